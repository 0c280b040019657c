import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { sqliteStore } from '@meup/gateway'
import { testToken } from '@meup/gateway/testing'
import { expect, onTestFinished, test } from 'vitest'
import { start, temporaryFile } from '../../packages/gateway/test/support.js'
import { verifiedIds } from '../support/chain.js'
import { expectNoGap } from '../support/crowd.js'
import { proxy } from '../support/proxy.js'
import { times } from '../support/soak.js'

/** Number of times that the connection is cut. */
const rounds = times(1, 20)
const perRound = 20
const patient = { timeout: 30_000 }

/**
 * Connects a participant until the test is over, with the seqs of the envelopes that it received, and the participants that
 * left.
 */
async function enter(participant: string, url: string) {
  const space = await SpaceClient.open(dialWs, { url, space: 'test', token: testToken(participant) })
  onTestFinished(() => void space.close())
  const seen: number[] = []
  const left: string[] = []
  space.on('envelope', ({ seq, kind, payload }) => {
    if (seq !== undefined) seen.push(seq)
    const { event, participant: who } = payload as { event?: string; participant?: { id?: string } }
    if (kind === 'system.presence' && event === 'leave') left.push(who?.id ?? '')
  })
  return { space, seen, left }
}

test(
  `${rounds} times a line dies without a word: its end is noticed, the others go on, and nothing acknowledged is lost`,
  async () => {
    const path = temporaryFile('log.sqlite')
    const { url, close } = await start({
      participants: { ana: ['chat'], ben: ['chat'] },
      store: await sqliteStore({ path }),
      heartbeatMs: 500,
    })
    await using line = await proxy(Number(new URL(url).port))
    const far = await enter('ana', line.url)
    const near = await enter('ben', url)
    const accepted: { id: string; seq?: number }[] = []

    for (let round = 1; round <= rounds; round++) {
      accepted.push(await far.space.chat(`round ${round}`))
      const reset = line.stop()
      // Messages on the silent connection reach no one, and are not acknowledged.
      const unheard = Array.from({ length: perRound }, (_, number) => far.space.chat(`unheard ${number}`))
      accepted.push(
        ...(await Promise.all(Array.from({ length: perRound }, () => near.space.chat('meanwhile')))),
      )
      await expect.poll(() => near.left.length, patient).toBe(round)
      reset()
      const said = await Promise.all(unheard)
      accepted.push(...said)
      const last = Math.max(...said.map(({ seq = 0 }) => seq))
      for (const { seen } of [far, near]) {
        await expect.poll(() => seen.at(-1) ?? 0, patient).toBeGreaterThanOrEqual(last)
      }
    }

    expectNoGap(far.seen)
    expectNoGap(near.seen)
    expect(near.left).toEqual(Array.from({ length: rounds }, () => 'ana'))
    await close()
    const ids = await verifiedIds(path, 'test')
    expect(new Set(ids).size).toBe(ids.length)
    expect(accepted.filter(({ id, seq = 0 }) => ids[seq - 1] !== id)).toEqual([])
  },
  rounds * 60_000,
)
