import { SpaceClient, type VisibilityChange } from '@meup/agent-sdk/internal'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { ContextInfo } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'
import { scriptedDial } from './support/scripted-line.js'

const participants = { ana: ['*'], bot: ['chat', 'reasoning.*', 'test.*'], guest: ['test.*'] }

/** Records the visibility changes that a client is notified of. */
function changesAt(seat: SpaceClient): VisibilityChange[] {
  const changes: VisibilityChange[] = []
  seat.on('visibility', (change) => changes.push(change))
  return changes
}

async function three() {
  const space = await createTestSpace({ participants })
  const [ana, bot, guest] = [await space.join('ana'), await space.join('bot'), await space.join('guest')]
  return { space, ana, bot, guest, heard: recordEnvelopes(ana), changes: changesAt(guest) }
}

const thoughts = (heard: ReturnType<typeof recordEnvelopes>) => heard.all.filter(byKind('reasoning.thought'))

describe('a run', () => {
  test('is hidden and shown by whoever reasons, from any of its contexts', async () => {
    const here = await three()
    await using _ = here.space
    const run = await here.bot.reason()
    const nested = await run.reason()
    await nested.hide()
    await run.thought('for myself')
    await nested.thought('for myself')
    await caughtUp(here.bot, here.heard)
    expect(thoughts(here.heard)).toEqual([])
    await run.show()
    await nested.thought('for all')
    await caughtUp(here.bot, here.heard)
    expect(thoughts(here.heard).map(({ payload }) => payload)).toEqual([{ message: 'for all' }])
  })

  verifies('O13', 'is hidden and shown by whoever may, who is told what the space has', async () => {
    const here = await three()
    await using _ = here.space
    const run = await here.bot.reason()
    for (const reasoningVisible of [false, true, true]) {
      const { kind, payload } = await here.ana.setVisibility(run.context, reasoningVisible)
      expect([kind, payload]).toEqual(['observe.visibility', { context: run.context, reasoningVisible }])
    }
    await expect(here.guest.setVisibility(run.context, false)).rejects.toMatchObject({ code: 'forbidden' })
    await run.conclude()
    const over = here.ana.setVisibility(run.context, false)
    await expect(over).rejects.toMatchObject({ code: 'run_not_active' })
    await expect(run.hide()).rejects.toMatchObject({ code: 'run_not_active' })
  })

  test('is known to be hidden or shown, and each change is told once', async () => {
    const here = await three()
    await using _ = here.space
    const heard = recordEnvelopes(here.guest)
    const run = await here.bot.reason()
    const { context } = run
    await here.ana.setVisibility(context, true)
    await here.ana.setVisibility(context, false)
    await here.bot.setVisibility(context, false)
    await caughtUp(here.bot, heard)
    const hiddenBy = ['ana', 'bot']
    expect(here.guest.runs).toEqual([{ context, owner: 'bot', reasoningVisible: false, hiddenBy }])
    await here.ana.send({ kind: 'reasoning.cancel', context })
    await caughtUp(here.ana, heard)
    expect(here.guest.runs).toHaveLength(1)
    await here.ana.setVisibility(context, true)
    await here.bot.setVisibility(context, true)
    await here.bot.setVisibility(context, false)
    await run.cancel('interrupted')
    await caughtUp(here.bot, heard)
    expect(here.guest.runs).toEqual([])
    expect(here.changes).toEqual([
      { context, reasoningVisible: false, hiddenBy: ['ana'], by: 'ana' },
      { context, reasoningVisible: false, hiddenBy, by: 'bot' },
      { context, reasoningVisible: false, hiddenBy: ['bot'], by: 'ana' },
      { context, reasoningVisible: true, by: 'bot' },
      { context, reasoningVisible: false, hiddenBy: ['bot'], by: 'bot' },
      { context, reasoningVisible: true },
    ])
  })

  verifies('O17', 'that is none, is over, or is another’s changes nothing', async () => {
    const here = await three()
    await using _ = here.space
    const heard = recordEnvelopes(here.guest)
    const [one, other, past] = [await here.bot.reason(), await here.bot.reason(), await here.bot.reason()]
    await past.conclude()
    const attempts = [
      { context: past.context, reasoningVisible: false },
      { context: 'never', reasoningVisible: false },
      { context: one.context },
      { context: one.context, reasoningVisible: 'no' },
    ]
    for (const payload of attempts) {
      await expect(here.ana.send({ kind: 'observe.visibility', payload })).rejects.toThrow()
    }
    await other.hide()
    await caughtUp(here.bot, heard)
    expect(here.changes).toMatchObject([{ context: other.context, reasoningVisible: false, by: 'bot' }])
    expect(here.guest.runs.map(({ reasoningVisible }) => reasoningVisible)).toEqual([true, false])
  })
})

describe('whoever comes later', () => {
  test('is told by the welcome, and not misled by what is replayed', async () => {
    const here = await three()
    await using _ = here.space
    const run = await here.bot.reason()
    const nested = await run.reason()
    const past = await here.bot.reason()
    await run.hide()
    await past.hide()
    await run.show()
    await past.conclude()
    await run.hide()
    const late = await here.space.join('guest', { after: 0 })
    const changes = changesAt(late)
    const heard = recordEnvelopes(late)
    await caughtUp(here.bot, heard)
    expect(heard.all.filter(byKind('observe.visibility'))).toHaveLength(4)
    expect(changes).toEqual([])
    const { context } = run
    expect(late.runs).toEqual([{ context, owner: 'bot', reasoningVisible: false, hiddenBy: ['bot'] }])
    const flags = () => late.contexts.map((each) => [each.context, each.reasoningVisible])
    expect(flags()).toEqual([
      [context, false],
      [nested.context, false],
    ])
    await run.show()
    await caughtUp(here.bot, heard)
    expect(changes).toEqual([{ context, reasoningVisible: true, by: 'bot' }])
    expect(flags().map(([, isVisible]) => isVisible)).toEqual([true, true])
  })

  test('and whoever was away, hears what the new welcome says otherwise', async () => {
    const { dial, next } = scriptedDial()
    const opening = SpaceClient.open(dial, { url: 'http://test', space: 'test' })
    const line = await next()
    const at = (context: string, reasoningVisible: boolean): ContextInfo => ({
      ...{ context, owner: 'bot', state: 'open', startedAt: '2026-01-01T00:00:00.000Z' },
      reasoningVisible,
      ...(!reasoningVisible && { hiddenBy: ['bot'] }),
    })
    line.welcome({
      contexts: [at('same', false), at('shown', false), at('ended', false), at('hidden', true)],
    })
    const seat = await opening
    const changes = changesAt(seat)
    const received = new Promise((resolve) => seat.once('welcome', resolve))
    line.welcome({ contexts: [at('same', false), at('shown', true), at('hidden', false), at('new', false)] })
    await received
    expect(changes).toEqual([
      { context: 'shown', reasoningVisible: true },
      { context: 'ended', reasoningVisible: true },
      { context: 'hidden', reasoningVisible: false, hiddenBy: ['bot'] },
    ])
    expect(seat.runs.map(({ context }) => context)).toEqual(['same', 'shown', 'hidden', 'new'])
    seat.close()
  })
})
