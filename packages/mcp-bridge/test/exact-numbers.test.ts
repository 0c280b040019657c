import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { bridgeMcpServer, type McpServerOptions } from '@meup/mcp-bridge'
import { parseExact, stringifyExact } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'

const numbers =
  '{"id":9007199254740993,"price":0.1000,"deep":[{"n":-2047948614742839297,"one":1.0,"e":1E5}],"end":true}'

/** Code of an MCP server: returns the responses to a line. Its only tool returns its arguments, as text and as JSON. */
const answerLine = `function answerLine(line) {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return []
  const answer = (member) => '{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',' + member + '}'
  const greeting = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'n', version: '1' } }
  if (method === 'initialize') return [answer('"result":' + JSON.stringify(greeting))]
  const json = /"arguments":([{].*"end":true[}])/.exec(line)?.[1]
  if (json === undefined) return [answer('"error":{"code":-32601,"message":"no"}')]
  const token = /"progressToken":(\\d+)/.exec(line)?.[1]
  const params = '"params":{"progressToken":' + token + ',"progress":0.50,"total":1.0}'
  const content = JSON.stringify([{ type: 'text', text: json }])
  return [
    '{"jsonrpc":"2.0","method":"notifications/progress",' + params + '}',
    answer('"result":{"content":' + content + ',"structuredContent":' + json + '}'),
  ]
}`

const stdio = (): McpServerOptions => ({
  name: 'files',
  command: process.execPath,
  args: [
    '-e',
    `${answerLine}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  for (const each of answerLine(line)) process.stdout.write(each + '\\n')
})`,
  ],
  env: {},
})

async function http(type: 'application/json' | 'text/event-stream'): Promise<McpServerOptions> {
  const answer = new Function(`${answerLine}\nreturn answerLine`)() as (line: string) => readonly string[]
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      if (request.method !== 'POST') return response.writeHead(405).end()
      const lines = answer(Buffer.concat(chunks).toString())
      if (lines.length === 0) return response.writeHead(202).end()
      const body =
        type === 'application/json' ? lines.at(-1) : lines.map((line) => `data: ${line}\n\n`).join('')
      return response.writeHead(200, { 'content-type': type }).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { name: 'files', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` }
}

test.for([
  ['over stdio', async () => stdio()],
  ['over HTTP, as JSON', () => http('application/json')],
  ['over HTTP, as events', () => http('text/event-stream')],
] as const)('numbers arrive as they were written, there and back: %s', async ([, run]) => {
  const space = await createTestSpace({ participants: { ana: ['*'], files: ['*'] } })
  const [ana, files] = [await space.join('ana'), await space.join('files')]
  const bridge = await bridgeMcpServer({ ...(await run()), connect: async () => files })
  onTestFinished(async () => {
    await bridge.close()
    await space.close()
  })
  const logged: unknown[] = []
  ana.on('envelope', ({ payload }) => void logged.push(payload))
  const args = parseExact(numbers) as object
  const { content, data } = await ana.call('files/echo', args, { onProgress: () => {} })
  expect(content).toEqual([{ type: 'text', text: numbers }])
  expect(stringifyExact(data)).toBe(numbers)
  const text = stringifyExact(logged)
  expect(text).toContain(`"arguments":${numbers}`)
  expect(text).toContain(`"structuredContent":${numbers}`)
  if (text.includes('notifications/progress')) expect(text).toContain('"progress":0.50,"total":1.0')
})
