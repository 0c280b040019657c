import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { connect } from '@meup/agent-sdk'
import { isStepCount, jsonSchema, streamText, tool } from 'ai'
import { result, tools } from '../support/tools.js'

// A caller of a model: node model-caller.ts bare <address of the model>
//                      node model-caller.ts agent <address of the model> <address of the gateway> <space> <token>
const [kind, baseURL = '', url = '', space = '', token = ''] = process.argv.slice(2)
const port = kind === 'agent' ? await startAgent() : await serveBare()
console.log(JSON.stringify({ port }))

async function startAgent(): Promise<number> {
  const client = await connect({ url, space, token })
  void client.agent({ model: 'scripted', baseURL, tools: ['desk/*'], memory: 0, transcript: 'off' })
  return Number(new URL(url).port)
}

/** Answers each request with the model's answer: the loop of the `ai` package, with its own tools. */
async function serveBare(): Promise<number> {
  const model = createOpenAICompatible({ name: 'bare', baseURL, includeUsage: true })('scripted')
  const own = Object.fromEntries(
    tools.map(({ name, description, input }) => [
      `desk__${name}`,
      tool({ description, inputSchema: jsonSchema({ ...input }), execute: () => result }),
    ]),
  )
  const server = createServer(async (request, response) => {
    const prompt = await text(request)
    const stream = streamText({ model, prompt, tools: own, stopWhen: isStepCount(1000) })
    let said = ''
    for await (const part of stream.textStream) said += part
    response.end(said)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}
