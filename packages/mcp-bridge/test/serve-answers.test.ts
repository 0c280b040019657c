import type { SpaceClient } from '@meup/agent-sdk'
import { HttpClient } from '@meup/agent-sdk/http'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { serveSpaceOverHttp } from '@meup/mcp-bridge/serve'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { Client, type Progress, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'

const token = 'token-of-this-server'

/** An MCP client that asks in a space, and the participants that answer. */
async function asked() {
  const space = await createTestSpace({ participants: { desktop: ['*'], helper: ['*'], eve: ['*'] } })
  onTestFinished(() => space.close())
  const [helper, eve] = [await space.join('helper'), await space.join('eve')]
  const served = {
    space: await space.join('desktop'),
    http: new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' }),
  }
  const serving = await serveSpaceOverHttp(served, { port: 0, token })
  onTestFinished(() => serving.close())
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(serving.url), { requestInit }))
  onTestFinished(() => client.close())

  const progress: (string | undefined)[] = []
  const numbers: number[] = []
  const come = next(helper, ({ kind, from }) => kind === Kind.chat && from === 'desktop')
  const onprogress = (report: Progress): void => {
    progress.push(report.message)
    numbers.push(report.progress)
  }
  const result = client.callTool(
    { name: 'ask', arguments: { message: 'well?', to: ['helper', 'eve'] } },
    { onprogress },
  )
  const { id } = await come
  /** Sends parts of an answer with their indexes, then the answer. */
  const write = async (parts: readonly (readonly [number, string])[], answer: string): Promise<void> => {
    await helper.send({
      kind: Kind.reasoningStart,
      id: 'run',
      correlationId: id,
      payload: { message: 'let me see' },
    })
    for (const [index, text] of parts) {
      helper.post({ kind: Kind.chatDelta, to: ['desktop'], correlationId: id, payload: { index, text } })
    }
    await helper.send({ kind: Kind.chat, to: ['desktop'], correlationId: id, payload: { message: answer } })
  }
  return { eve, id, write, result, progress, numbers }
}

const next = (space: SpaceClient, matches: (envelope: AnyEnvelope) => boolean): Promise<AnyEnvelope> =>
  new Promise((resolve) => {
    space.on('envelope', (envelope) => {
      if (matches(envelope)) resolve(envelope)
    })
  })

describe('an answer as it is written is told as progress [MEUP-3.25]:', () => {
  test('its beginning at once, then what was added, in few reports; a new beginning anew', async () => {
    const { write, result, progress, numbers } = await asked()
    const filler = '.'.repeat(60)
    const parts: [number, string][] = [
      [0, 'I will'],
      [1, ' look'],
      [0, 'Yes'],
      [1, `, one${filler}`],
      [2, `, two${filler}`],
      [3, ', three'],
    ]
    await write(parts, 'Yes')
    expect(await result).toMatchObject({ structuredContent: { from: 'helper', text: 'Yes' } })
    expect(progress.slice(-3)).toEqual([
      'helper writes: I will',
      'helper writes: Yes',
      `helper writes: , one${filler}, two${filler}`,
    ])
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  })

  test('not after one that is missing, from others, or about something else', async () => {
    const { write, eve, result, progress } = await asked()
    const text = 'x'.repeat(200)
    eve.post({ kind: Kind.chatDelta, correlationId: 'q', payload: { index: 0, text } })
    await write(
      [
        [0, 'a'],
        [2, text],
        [3, text],
      ],
      'a',
    )
    await result
    expect(progress.filter((message) => message?.includes('writes'))).toEqual(['helper writes: a'])
  })

  test('at most a hundred times', async () => {
    const { write, result, progress } = await asked()
    await write(
      Array.from({ length: 150 }, (_, count): [number, string] => [0, `${count}`]),
      'done',
    )
    await result
    expect(progress.filter((message) => message?.includes('writes'))).toHaveLength(100)
  })
})
