/** Plays the model of both agents, for users without a model: a server with OpenAI's API and the answers of one story. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

interface Answer {
  readonly thought?: string
  readonly text?: string
  readonly tool?: readonly [name: string, args: object]
}

/** The coder's answers, one step after each tool result. */
const coder = (repo: string): readonly Answer[] => [
  {
    thought: 'The test says what is expected. I look at the code first.',
    text: 'I read the code.',
    tool: ['read', { filePath: `${repo}/sum.js` }],
  },
  {
    thought: 'It subtracts. One character is wrong.',
    text: 'The sum subtracts.',
    tool: ['edit', { filePath: `${repo}/sum.js`, oldString: 'a - b', newString: 'a + b' }],
  },
  { text: 'Now I run the test.', tool: ['bash', { command: 'node test.js', description: 'Runs the test' }] },
  {
    text: 'It passes. I clean up.',
    tool: ['bash', { command: 'rm -rf ../..', description: 'Removes what is not needed' }],
  },
]

const reviewer: readonly Answer[] = [
  { text: 'I look at what is there now.', tool: ['files__read_text_file', { path: 'sum.js' }] },
  { text: 'The change is right: `sum` adds now, and the test covers it.' },
]

/** Starts a server for the script, which ends with this process. Returns its address. */
export async function serveScript(repo: string): Promise<string> {
  const server = createServer((request, response) => {
    readJson(request)
      .then((asked) => {
        const answer = `${write(choose(asked, repo))}data: [DONE]\n\n`
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer)
      })
      .catch((error: unknown) => response.writeHead(400).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

async function readJson(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString()) as Asked
}

function choose({ messages, tools = [] }: Asked, repo: string): Answer {
  const names = tools.map((tool) => tool.function.name)
  const steps = messages
    .slice(messages.findLastIndex(({ role }) => role === 'user'))
    .filter(({ role }) => role === 'tool')
  const script = names.includes('bash') ? coder(repo) : names.length > 0 ? reviewer : []
  return script[steps.length] ?? { text: 'Done: `sum` adds, and the test passes.' }
}

function write({ thought, text, tool }: Answer): string {
  const call = tool && { name: tool[0], arguments: JSON.stringify(tool[1]) }
  const deltas = [
    ...(thought === undefined ? [] : [{ reasoning_content: thought }]),
    ...(text === undefined ? [] : [{ content: text }]),
    ...(call === undefined
      ? []
      : [{ tool_calls: [{ index: 0, id: `call_${Date.now()}`, type: 'function', function: call }] }]),
  ]
  const event = (delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ id: 'script', object: 'chat.completion.chunk', model: 'script', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  return deltas.map((delta) => event(delta)).join('') + event({}, call === undefined ? 'stop' : 'tool_calls')
}
