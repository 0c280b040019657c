import type { Draft, OpenRun } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { RunInterrupter } from '../src/join/interruptions.js'
import { envelope } from './support/turns.js'

/** Lists the runs and answers that ana may interrupt after these envelopes, and interrupts them. */
async function interrupting(all: readonly AnyEnvelope[], runs: readonly string[] = []) {
  const sent: Draft[] = []
  const space = {
    id: 'ana',
    runs: runs.map((context): OpenRun => ({ context, owner: 'bot', reasoningVisible: true })),
    send: async (draft: Draft) => {
      sent.push(draft)
      return all[0] as AnyEnvelope
    },
  }
  const interrupter = new RunInterrupter(space)
  for (const each of all) interrupter.onEnvelope(each)
  const { works, areMine } = interrupter.choices()
  const said = await Promise.all(interrupter.unstopped().map((work) => interrupter.stop(work)))
  const left = interrupter.unstopped().length
  return { names: works.map((work) => interrupter.named(work)), areMine, said, sent, left, interrupter }
}

const question = (from: string, fields: object = {}) =>
  envelope(1, 'chat', from, { payload: { message: 'Can we\ndeploy?' }, ...fields })
const piece = envelope(2, 'chat.delta', 'bot', { correlationId: 'e1', payload: { index: 0, text: 'half' } })

test('an answer that is written without a run is interrupted by taking its question back', async () => {
  expect(await interrupting([question('ana'), piece])).toMatchObject({
    names: ['bot: Can we deploy?'],
    areMine: true,
    sent: [{ kind: 'chat.cancel', correlationId: 'e1' }],
    said: ['✓ the question to bot is taken back'],
    left: 0,
  })
  const { sent } = await interrupting([question('ana', { to: ['bot'] }), piece])
  expect(sent).toEqual([{ kind: 'chat.cancel', correlationId: 'e1', to: ['bot'], payload: {} }])
})

test('an answer in a run is interrupted with its run', async () => {
  const start = envelope(3, 'reasoning.start', 'bot', { correlationId: 'e1', payload: { message: 'Hm' } })
  expect(await interrupting([question('ana'), piece, start], ['e3'])).toMatchObject({
    names: ['bot: Hm'],
    sent: [{ kind: 'reasoning.cancel', context: 'e3' }],
  })
})

test.each([
  [
    'is complete',
    [
      question('ana'),
      piece,
      envelope(3, 'chat', 'bot', { correlationId: 'e1', payload: { message: 'half' } }),
    ],
  ],
  ['was taken back', [question('ana'), piece, envelope(3, 'chat.cancel', 'ana', { correlationId: 'e1' })]],
])('an answer that %s is not interrupted', async (_, all) => {
  const { names, interrupter } = await interrupting(all)
  expect(names).toEqual([])
  expect(interrupter.describeNone()).toBe('no agent thinks at present')
})

test('an answer to others is not interrupted, and says so', async () => {
  const { names, interrupter } = await interrupting([question('eve'), piece])
  expect(names).toEqual([])
  expect(interrupter.describeNone()).toMatch(/^bot answers someone else/)
})
