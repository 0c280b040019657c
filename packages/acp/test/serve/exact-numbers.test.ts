import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { HttpClient } from '@meup/agent-sdk/http'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { parseExact } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { openStdio, serveAcp } from '../../src/serve/serve.js'
import { careful, offerFiles, useTool } from '../support/stage.js'

const numbers = '{"path":"a","id":9007199254740993,"price":0.1000}'

test('a call and a permission are shown with the digits of their numbers', async () => {
  const space = await createTestSpace({ participants: { ana: ['*'], coder: careful, files: ['mcp.*'] } })
  onTestFinished(() => space.close())
  const [ana, coder] = [await space.join('ana'), await space.join('coder')]
  offerFiles(await space.join('files'))
  coder.answer(useTool('files/write', parseExact(numbers) as object, 'it is due'))
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const http = new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' })
  const serving = serveAcp({ space: ana, http, to: 'coder' }, openStdio(stdin, stdout))
  onTestFinished(() => serving.close())
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const send = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const until = async (text: string): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done || value.includes(text)) return String(value)
    }
  }
  send({ id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } })
  await until('"id":1')
  send({ id: 2, method: 'session/new', params: { cwd: '/', mcpServers: [] } })
  const { sessionId } = JSON.parse(await until('"id":2')).result
  const prompt = [{ type: 'text', text: 'Write it' }]
  send({ id: 3, method: 'session/prompt', params: { sessionId, prompt } })
  expect(await until('session/request_permission')).toContain(`"rawInput":${numbers}`)
})
