// An MCP server over stdio whose tool, on request, misbehaves in various ways.
import { closeSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

writeFileSync(process.argv[2], String(process.pid))
const write = (text) => process.stdout.write(text)
const send = (message) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const done = (id, text = 'done') => send({ id, result: { content: [{ type: 'text', text }] } })

const unreadable = [
  '\uFEFF{"jsonrpc":"2.0","method":"notifications/odd"}\n',
  'npm warn deprecated\n',
  Buffer.from('{"jsonrpc":"2.0","method":"notifications/odd"}\n', 'utf16le'),
  `{"jsonrpc":"2.0","method":"notifications/odd","params":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}\n`,
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}\n',
  '{"jsonrpc":"2.0","id":987654,"result":{}}\n',
  '{"jsonrpc":"2.0","id":null,"error":null}\n[]\nnull\n1\n',
  Buffer.from([0xff, 0xfe, 0x00, 0x0a]),
]

const tools = {
  echo: (id, { text }) => done(id, text),
  unreadable(id, { which }) {
    write(unreadable[which % unreadable.length])
    done(id)
  },
  'large-result': (id) => done(id, 'x'.repeat(11 * 1024 * 1024)),
  'endless-line'(id) {
    for (let at = 0; at < 32; at++) write('x'.repeat(1024 * 1024))
    write('\n')
    done(id)
  },
  flood(id) {
    for (let at = 0; at < 20_000; at++)
      send({ method: 'notifications/message', params: { level: 'debug', data: `line ${at}` } })
    done(id)
  },
  hang() {},
  'close-stdout': () => [closeSync(1), setInterval(() => {}, 1000)],
  exit: () => process.exit(7),
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize')
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'odd', version: '1' },
      },
    })
  else if (method === 'tools/list')
    send({
      id,
      result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) },
    })
  else if (method === 'tools/call') tools[params.name](id, params.arguments ?? {})
  else if (id !== undefined) send({ id, result: {} })
})
