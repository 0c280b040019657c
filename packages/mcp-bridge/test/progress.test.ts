import type { McpRequestPayload } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { relayError } from '../src/errors.js'
import { call, serve } from './support/servers.js'

const report = (progress: string, token = '$TOKEN') =>
  `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},${progress}}}`
const answer = '{"jsonrpc":"2.0","id":$ID,"result":{"done":true}}'

/** Calls a tool that writes these lines. Returns the response, and the progress notifications that the caller receives. */
async function callWithLines(lines: string[], progressToken: unknown, running = serve('rawServer')) {
  const { relay } = await running
  const heard: McpRequestPayload[] = []
  const request = call('line', { line: lines.join('\n') }, { _meta: { progressToken } })
  const response = await relay.request(request, {
    onNotification: (notification) => heard.push(notification),
  })
  return { heard, response, running: await running }
}

describe('progress of a call', () => {
  test.for(['mine', '', '7', 7, 0, -1, 1.5, 1000])(
    'comes back under the token it was asked for: %j',
    async (token) => {
      const { heard } = await callWithLines([report('"progress":1'), answer], token)
      expect(heard.map(({ params }) => params?.progressToken)).toEqual([token])
    },
  )

  test('arrives with all that the server says, in order, before the response', async () => {
    const lines = [
      report('"progress":1,"total":2,"odd":[null],"_meta":{"k":1}'),
      report('"progress":2'),
      answer,
    ]
    const { heard, response } = await callWithLines(lines, 'p')
    expect(JSON.stringify(heard)).toBe(
      JSON.stringify(lines.slice(0, 2).map((line) => JSON.parse(line.replace('$TOKEN', '"p"')))),
    )
    expect(response).toHaveProperty('result.done', true)
  })

  test.for([
    ['no token', report('"progress":1', 'null')],
    ['the token of another server', report('"progress":1', '"p"')],
    ['the token of a call that is over', report('"progress":1', '1000')],
    ['no params', '{"jsonrpc":"2.0","method":"notifications/progress"}'],
  ])('under %s is told to nobody', async ([, line = '']) => {
    const running = serve('rawServer')
    await callWithLines([answer], 'p', running)
    const { heard, running: after } = await callWithLines([line, answer], 'p', running)
    expect([heard, after.notifications, after.lines]).toEqual([[], [], []])
  })

  test('of a call that asks for none is told to nobody', async () => {
    const { heard, running } = await callWithLines([report('"progress":1', '1000'), answer], undefined)
    expect([heard, running.notifications]).toEqual([[], []])
  })

  test('of a call that was given up is told to nobody', async () => {
    const running = await serve('rawServer')
    const heard: McpRequestPayload[] = []
    const asker = new AbortController()
    const request = call('silent', {}, { _meta: { progressToken: 'p' } })
    const onNotification = (notification: McpRequestPayload) => heard.push(notification)
    const given = running.relay.request(request, { signal: asker.signal, onNotification })
    asker.abort()
    await given
    await callWithLines([report('"progress":1', '1000'), answer], 'q', Promise.resolve(running))
    expect([heard, running.notifications]).toEqual([[], []])
  })
})

describe('a call that the server cancels', () => {
  test('is answered with its reason, once', async () => {
    const cancel =
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":$ID,"reason":"overworked"}}'
    const { response, running } = await callWithLines([cancel, answer], 'p')
    const cancelled = relayError('cancelled_by_server', { name: 'files', reason: 'overworked' })
    expect(response).toEqual({ ...cancelled, id: 7 })
    expect([running.notifications, running.lines]).toEqual([[], []])
  })

  test('leaves others alone', async () => {
    const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"my question"}}'
    const { response, running } = await callWithLines([cancel, answer], 'p')
    expect(response).toHaveProperty('result.done', true)
    expect(running.notifications).toEqual([])
  })
})
