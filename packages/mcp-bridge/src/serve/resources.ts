import { ConnectionError, ProtocolError } from '@meup/agent-sdk'
import {
  ProtocolError as McpError,
  type McpServer,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import type { Desk } from './desk.js'
import { explain } from './failures.js'
import {
  readAudit,
  readContext,
  readContexts,
  readReasoning,
  readTranscript,
  readTurnAudit,
} from './texts.js'

interface Described {
  readonly title: string
  readonly description: string
  readonly mimeType: string
}

type Values = Readonly<Record<string, string | string[]>>

const [json, markdown, plain] = ['application/json', 'text/markdown', 'text/plain']

/** What is to be read of a space, as its participant may read it, whenever it is read. */
export function addResources(server: McpServer, { space, reading, uris }: Desk): void {
  const name = space.welcome.space.id
  const { templates } = uris
  const add = (id: string, uri: string, described: Described, read: () => Promise<string>): void => {
    server.registerResource(id, uri, described, (address) => answer(address, described, read))
  }
  const addTemplate = (
    id: string,
    template: string,
    described: Described,
    read: (value: (name: string) => string) => Promise<string>,
  ): void => {
    const all = new ResourceTemplate(template, { list: undefined })
    server.registerResource(id, all, described, (address, values: Values) =>
      answer(address, described, () => read((key) => String(values[key]))),
    )
  }

  add(
    'transcript',
    uris.transcript,
    about('Transcript', 'The main conversation, oldest first.', json),
    async () => toText(await readTranscript(reading)),
  )
  add(
    'contexts',
    uris.contexts,
    about('Contexts', 'The tree of what was thought about, oldest first.', json),
    async () => toText(await readContexts(reading)),
  )
  add('audit', uris.audit, about('Audit', 'What agents did lately, step by step.', markdown), () =>
    readAudit(reading),
  )
  addTemplate(
    'context',
    templates.context,
    about('One context', 'What was thought and done in one context and below it.', json),
    async (value) => toText(await readContext(reading, value('path'))),
  )
  addTemplate(
    'turn-audit',
    templates.audit,
    about('Audit of one turn', 'What an agent did in one of its turns, step by step.', markdown),
    (value) => readTurnAudit(reading, name, value('agent'), value('turn')),
  )
  addTemplate(
    'latest-reasoning',
    templates.latest,
    about(
      'Reasoning of the latest turn',
      'Why an agent used its tools in its latest turn that has ended.',
      plain,
    ),
    (value) => readReasoning(reading, name, value('agent')),
  )
  addTemplate(
    'turn-reasoning',
    templates.turn,
    about('Reasoning of one turn', 'Why an agent used its tools in one of its turns.', plain),
    (value) => readReasoning(reading, name, value('agent'), value('turn')),
  )
}

const about = (title: string, description: string, mimeType: string): Described => ({
  title,
  description,
  mimeType,
})

const toText = (value: unknown): string => JSON.stringify(value, null, 2)

async function answer({ href }: URL, { mimeType }: Described, read: () => Promise<string>) {
  try {
    return { contents: [{ uri: href, mimeType, text: await read() }] }
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'not_found') {
      throw new ResourceNotFoundError(href, explain(error))
    }
    const isKnown = error instanceof ProtocolError || error instanceof ConnectionError
    if (isKnown) throw new McpError(ProtocolErrorCode.InternalError, explain(error))
    throw error
  }
}
