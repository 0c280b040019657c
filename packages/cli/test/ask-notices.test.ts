import type { TurnEvent } from '@meup/folds'
import { expect, test } from 'vitest'
import { DelayNotices } from '../src/commands/ask-notices.js'

const seat = (id: string, kind: string, paused?: { by: string }) => ({
  ...{ id, kind, status: 'present' as const, capabilities: [] },
  ...(paused && { paused: { ...paused, since: '2026-01-02T03:04:05.000Z' } }),
})

function watch(names: readonly string[]) {
  const lines: string[] = []
  const space = {
    id: 'ana',
    gatewayTime: () => Date.parse('2026-01-02T03:05:00.000Z'),
    participants: [
      seat('ana', 'human', { by: 'ben' }),
      seat('bot', 'agent', { by: 'ben' }),
      seat('eve', 'agent'),
    ],
  }
  return { lines, space, notices: new DelayNotices(space, names, (line) => lines.push(line)) }
}

test.for([{ names: [] }, { names: ['bot', 'eve'] }])(
  'a pause of who is asked is reported once: %j',
  ({ names }) => {
    const { lines, notices } = watch(names)
    notices.checkPauses()
    notices.checkPauses()
    expect(lines).toEqual(['bot is paused by ben; meup resume bot lets it answer'])
  },
)

test('a pause after a resume is reported again', () => {
  const { lines, space, notices } = watch(['bot'])
  notices.checkPauses()
  for (const paused of [undefined, { by: 'ana' }]) {
    space.participants[1] = seat('bot', 'agent', paused)
    notices.checkPauses()
  }
  expect(lines.map((line) => line.split(';')[0])).toEqual(['bot is paused by ben', 'bot is paused by ana'])
})

test('a later pause is reported, and the pause of another is not', () => {
  const { lines, space, notices } = watch(['eve'])
  notices.checkPauses()
  expect(lines).toEqual([])
  space.participants[2] = seat('eve', 'agent', { by: 'ana' })
  notices.checkPauses()
  expect(lines).toEqual(['eve is paused by ana; meup resume eve lets it answer'])
})

test('a proposal is reported with its tool', () => {
  const { lines, notices } = watch([])
  const event = { type: 'proposal', agent: 'bot', call: { toolName: 'write\nfile' } }
  notices.onEvent(event as TurnEvent)
  expect(lines).toEqual(['bot waits for a decision on write file; meup proposals ls shows it'])
})
