import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

/** Milliseconds that a person may take to decide. */
const timeoutMs = 300_000

export interface SpaceClient extends AsyncDisposable {
  /** Texts of the forms that were shown, in order. */
  readonly forms: readonly string[]
  /** Asks a question; returns the answer, and the URI of the reasons for its tool calls. */
  ask(message: string, onThought: (thought: string) => void): Promise<{ answer: string; reasoning: string }>
  read(uri: string): Promise<string>
}

/** Starts `meup mcp serve` and connects as an ordinary MCP client, which does not know about spaces. */
export async function openClient(
  directory: string,
  decide: (form: string) => 'approve' | 'reject',
): Promise<SpaceClient> {
  const meup = fileURLToPath(new URL('../bin/meup.js', import.meta.resolve('meup')))
  const client = new Client(
    { name: 'desktop', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  )
  const forms: string[] = []
  client.setRequestHandler('elicitation/create', ({ params }) => {
    forms.push(params.message)
    return { action: 'accept', content: { decision: decide(params.message) } }
  })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [meup, '-C', directory, 'mcp', 'serve', '--as', 'desktop'],
    }),
  )
  return {
    forms,
    async ask(message, onThought) {
      const params = { name: 'ask', arguments: { message } }
      const result = await client.callTool(params, {
        timeout: timeoutMs,
        onprogress: ({ message: thought = '' }) => {
          if (thought.startsWith('librarian ')) onThought(thought) // The SDK reports its own work as well.
        },
      })
      const { text = '', reasoning = '' } = (result.structuredContent ?? {}) as Record<string, string>
      return { answer: text, reasoning }
    },
    async read(uri) {
      const { contents } = await client.readResource({ uri })
      return contents.map((each) => ('text' in each ? each.text : '')).join('\n')
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}
