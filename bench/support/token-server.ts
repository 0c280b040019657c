import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'

/** The content of a question to the model: tool calls, one per step, followed by an answer with this many tokens. */
export interface Asked {
  readonly tokens: number
  readonly calls: number
}

export const tokensPerSecond = 200
const calledTool = 'desk__tool_7'
const argumentPieces = ['{"', 'path', '":"', '/srv/', 'report', '.txt', '"}']

export const toQuestion = ({ tokens, calls }: Asked): string => `${calls} calls, ${tokens} tokens`

interface Message {
  readonly role: string
  readonly content: unknown
}

/** Reads from the messages how many calls and tokens are still to come. */
function readAsked(messages: readonly Message[]): Asked {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const [, calls, tokens] = /(\d+) calls, (\d+) tokens/.exec(JSON.stringify(messages[last])) ?? []
  const made = messages.slice(last).filter(({ role }) => role === 'tool').length
  return { calls: Number(calls) - made, tokens: Number(tokens) }
}

const calling = (fields: object): object => ({ tool_calls: [{ index: 0, ...fields }] })

function* tokensOf({ calls, tokens }: Asked): Generator<object> {
  if (calls > 0) {
    yield calling({ id: `call_${calls}`, type: 'function', function: { name: calledTool, arguments: '' } })
    for (const piece of argumentPieces) yield calling({ function: { arguments: piece } })
  } else for (let i = 0; i < tokens; i++) yield { content: `word${i} ` }
}

/** Starts a server with OpenAI's API whose model writes 200 tokens per second, each in its own event. */
export async function serveTokens(): Promise<{ readonly baseURL: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const { messages } = JSON.parse(await text(request)) as { readonly messages: readonly Message[] }
    await answer(readAsked(messages), response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close }
}

async function answer(asked: Asked, response: ServerResponse): Promise<void> {
  const send = (delta: object, finish_reason: string | null = null, more: object = {}): void => {
    const choices = [{ index: 0, delta, finish_reason }]
    const chunk = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'scripted',
      choices,
      ...more,
    }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const begin = performance.now()
  let sent = 0
  for (const delta of tokensOf(asked)) {
    const wait = begin + (sent++ * 1000) / tokensPerSecond - performance.now()
    if (wait >= 1) await setTimeout(wait)
    send(delta)
  }
  const usage = { prompt_tokens: 1000, completion_tokens: sent, total_tokens: 1000 + sent }
  send({}, asked.calls > 0 ? 'tool_calls' : 'stop', { usage })
  response.end('data: [DONE]\n\n')
}
