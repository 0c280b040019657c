import { type CallableTool, type SpaceClient, ToolError } from '@meup/agent-sdk'
import { Answers, nameTools, Patience } from '@meup/agent-sdk/internal'
import { dropNulls, isObject, Pages } from '@meup/folds'
import { type AnyEnvelope, Kind, type McpRequestPayload, omitUndefined, PROTOCOL } from '@meup/protocol'
import {
  isSpecType,
  type Prompt,
  type Resource,
  type ResourceTemplateType,
  type Tool,
} from '@modelcontextprotocol/server'
import { formatCodedError } from '../results.js'
import type { ListName, Uris } from './changes.js'
import { ListChanges } from './list-changes.js'

/** A prompt, resource or template in the list of a participant. */
interface Offered<Definition> {
  readonly participant: string
  readonly name: string
  readonly definition: Definition
}

const lists = {
  prompts: { method: 'prompts/list', capability: 'prompts', isValid: isSpecType.Prompt },
  resources: { method: 'resources/list', capability: 'resources', isValid: isSpecType.Resource },
  resourceTemplates: {
    method: 'resources/templates/list',
    capability: 'resources',
    isValid: isSpecType.ResourceTemplate,
  },
} as const
type AskedList = keyof typeof lists
interface Definitions {
  readonly prompts: Prompt
  readonly resources: Resource
  readonly resourceTemplates: ResourceTemplateType
}

/** Milliseconds that a participant gets to list its prompts or resources. */
const askMs = 5000
/** Options of the requests for lists. A request that this participant may not make fails instead of becoming a proposal. */
const asking = { timeoutMs: askMs, propose: false }
const initialize = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'meup', version: PROTOCOL },
}
/** Maximum pages, items, and characters as JSON of a participant's list. */
const [maxPages, maxItems, maxChars] = [20, 1000, 512 * 1024]

interface OffersOptions {
  readonly space: SpaceClient
  readonly uris: Uris
  readonly log: (line: string) => void
  /** Called when a list for clients has changed. */
  readonly onChange: (list: ListName) => void
}

/**
 * The tools, prompts and resources of participants, for all MCP clients of a space. They are requested once, and again when
 * they may have changed.
 */
export class Offers {
  readonly #space: SpaceClient
  readonly #uris: Uris
  readonly #log: (line: string) => void
  readonly #lists: Readonly<Record<AskedList, Answers<readonly unknown[]>>>
  /** The capabilities that participants reported in `initialize`; `undefined` = no answer. */
  readonly #capabilities: Answers<object | undefined>
  readonly #changes: ListChanges

  constructor({ space, uris, log, onChange }: OffersOptions) {
    this.#space = space
    this.#uris = uris
    this.#log = log
    this.#changes = new ListChanges({
      read: (list) => this.#readAgain(list),
      onChange,
      onError: (list, error) => log(`the ${list} are not known: ${formatCodedError(error)}`),
    })
    const createList = (list: AskedList): Answers<readonly unknown[]> =>
      new Answers<readonly unknown[]>({
        ask: (id) => this.#ask(id, list),
        none: [],
        onError: (error) => log(`the ${list} of a participant are not known: ${formatCodedError(error)}`),
        onLate: () => this.#changes.check(list === 'prompts' ? 'prompts' : 'resources'),
      })
    this.#lists = {
      prompts: createList('prompts'),
      resources: createList('resources'),
      resourceTemplates: createList('resourceTemplates'),
    }
    this.#capabilities = new Answers<object | undefined>({
      ask: (id) => this.#askCapabilities(id),
      none: undefined,
      onError: (error) => log(`the offers of a participant are unknown: ${formatCodedError(error)}`),
    })
    space.on('tools', () => this.#changes.check('tools'))
    space.on('envelope', (envelope) => this.#onEnvelope(envelope))
  }

  /** The tools that this participant may call or propose, by their names for clients. */
  async tools(): Promise<ReadonlyMap<string, CallableTool>> {
    const people = this.#space.participants.filter(isPerson)
    return nameTools(await this.#space.tools(['*', ...people.map(({ id }) => `!${id}`)]))
  }

  /** The prompts of participants, by their names for clients. */
  async prompts(): Promise<ReadonlyMap<string, Offered<Prompt>>> {
    return nameTools(await this.#collect('prompts'))
  }

  async listTools(): Promise<Tool[]> {
    return this.#changes.give(
      'tools',
      [...(await this.tools())].map(([name, tool]) => toDefinition(name, tool)),
    )
  }

  async listPrompts(): Promise<Prompt[]> {
    const prompts = await this.prompts()
    return this.#changes.give(
      'prompts',
      [...prompts].map(([name, { definition }]) => ({ ...definition, name })),
    )
  }

  async listResources(): Promise<Resource[]> {
    const resources = await this.#collect('resources')
    return this.#changes.give(
      'resources',
      resources.map(({ participant, definition }) => ({
        ...definition,
        uri: this.#uris.offered(participant, definition.uri),
      })),
    )
  }

  async listResourceTemplates(): Promise<ResourceTemplateType[]> {
    const templates = await this.#collect('resourceTemplates')
    return this.#changes.give(
      'resourceTemplates',
      templates.map(({ participant, definition }) => ({
        ...definition,
        uriTemplate: this.#uris.offered(participant, definition.uriTemplate),
      })),
    )
  }

  #readAgain(list: ListName): Promise<unknown> {
    if (list === 'tools') return this.listTools()
    if (list === 'prompts') return this.listPrompts()
    return Promise.all([this.listResources(), this.listResourceTemplates()])
  }

  /** Ids of present participants. Excludes humans, whose clients do not answer requests for lists. */
  #present(): string[] {
    const { id: own, participants } = this.#space
    const here = participants.filter(
      (each) => each.status === 'present' && each.id !== own && !isPerson(each),
    )
    return here.map(({ id }) => id).sort()
  }

  async #collect<List extends AskedList>(list: List): Promise<Offered<Definitions[List]>[]> {
    const asked = this.#present().filter((id) => this.#mayAsk(id, lists[list].method, {}))
    const listed = await this.#lists[list].read(asked, new Patience(askMs))
    return listed.flatMap((definitions, index) =>
      (definitions as readonly Definitions[List][]).map((definition) => ({
        participant: asked[index] ?? '',
        name: definition.name,
        definition,
      })),
    )
  }

  async #ask(participant: string, list: AskedList): Promise<readonly unknown[]> {
    const { method, capability, isValid } = lists[list]
    const mayAsk = this.#mayAsk(participant, 'initialize', initialize)
    const [capabilities] = mayAsk ? await this.#capabilities.read([participant], new Patience(askMs)) : []
    if (capabilities !== undefined && !(capability in capabilities)) return []
    const items: unknown[] = []
    let chars = 0
    try {
      const pages = new Pages()
      let params: object | undefined = {}
      for (let page = 0; page < maxPages && params !== undefined; page++) {
        const result = await this.#space.request(participant, method, params, asking)
        for (const each of Array.isArray(result[list]) ? result[list] : []) {
          const item = dropNulls(each)
          chars += JSON.stringify(item).length
          if (items.length === maxItems || chars > maxChars) {
            this.#log(
              `${participant} offers more than ${maxItems} ${list}, or ${maxChars} characters of them; the rest is left out`,
            )
            return items
          }
          if (isValid(item)) items.push(item)
        }
        params = pages.next(result)
      }
    } catch (error) {
      // If the participant answers with an error, it does not have this list.
      if (!(error instanceof ToolError)) throw error
    }
    return items
  }

  async #askCapabilities(participant: string): Promise<object | undefined> {
    try {
      const { capabilities } = await this.#space.request(participant, 'initialize', initialize, asking)
      return isObject(capabilities) ? capabilities : {}
    } catch (error) {
      if (error instanceof ToolError) return undefined
      throw error
    }
  }

  #mayAsk(participant: string, method: string, params: object): boolean {
    const payload = { jsonrpc: '2.0', method, params }
    return this.#space.can({ kind: Kind.mcpRequest, to: [participant], payload })
  }

  #onEnvelope(envelope: AnyEnvelope): void {
    const { from, kind } = envelope
    if (kind === Kind.systemPresence && envelope.payload.event !== 'update') {
      const { id } = envelope.payload.participant
      this.#capabilities.expire(id)
      for (const list of ['prompts', 'resources'] as const) this.#expire(id, list, false)
    } else if (kind === Kind.mcpRequest && from !== this.#space.id) {
      const { method } = envelope.payload as McpRequestPayload
      if (method === 'notifications/prompts/list_changed') this.#expire(from, 'prompts', true)
      if (method === 'notifications/resources/list_changed') this.#expire(from, 'resources', true)
    }
    for (const each of [this.#capabilities, ...Object.values(this.#lists)]) each.onSent(from)
  }

  #expire(participant: string, list: 'prompts' | 'resources', isAnnounced: boolean): void {
    this.#lists[list].expire(participant, { isAnnounced })
    if (list === 'resources') this.#lists.resourceTemplates.expire(participant, { isAnnounced })
    this.#changes.check(list)
  }
}

const isPerson = ({ kind }: { readonly kind: string }): boolean => kind === 'human'

/** Converts a tool for clients, with its name for them. Omits optional members that clients could not parse. */
function toDefinition(name: string, { inputSchema, description, definition }: CallableTool): Tool {
  const { type: _, ...schema } = inputSchema
  const own = {
    name,
    ...omitUndefined({ description }),
    inputSchema: { ...schema, type: 'object' as const },
  }
  const whole = { ...definition, ...own }
  return isSpecType.Tool(whole)
    ? whole
    : isSpecType.Tool(own)
      ? own
      : { name, inputSchema: { type: 'object' } }
}
