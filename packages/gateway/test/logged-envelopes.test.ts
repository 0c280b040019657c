import { explain, explainLogged, type WhyOptions } from '@meup/folds'
import type { EnvelopeLog } from '@meup/gateway'
import { describe, expect, test } from 'vitest'
import { readers } from '../src/core/may-read.js'
import { LoggedEnvelopes } from '../src/index/logged-envelopes.js'
import { parseEnvelope } from '../src/log/entries.js'
import { type Fields, fieldsOf, fill, randomFields } from './indexed.js'
import { patient, readsOf } from './reads.js'
import { chat, stores, twoCalls } from './turns.js'

/** The log for a participant to whom no envelope is addressed. */
function readingOf(log: EnvelopeLog, delivered = log.head): LoggedEnvelopes {
  const decideAudience = ({ to }: { readonly to?: readonly string[] }) => to && readers(to)
  return new LoggedEnvelopes(
    { log, delivered, decideAudience, reads: readsOf(log, { decideAudience }) },
    patient,
  )
}

const options: WhyOptions = {
  guard: (text) => ({ text, isWithheld: false }),
  rights: { configurationAt: () => undefined, find: () => undefined },
}
const why = (log: LoggedEnvelopes, id: string) => explainLogged(log, id, options)

const without = ({ to: _, ...fields }: Fields): Fields => fields

describe.each(['memory', 'SQLite'] as const)('an envelope of a log in %s', (kind) => {
  const logOf = async (fields: readonly Fields[]) => fill(await stores[kind](), fields)

  test('is explained as from a log that is loaded', async () => {
    const log = await logOf(randomFields(7, 600).map(without))
    const all = (await log.read({ limit: 1000 })).map(parseEnvelope)
    const get = (id: string) => all.find((each) => each.id === id)
    const before = (seq: number) => all.slice(Math.max(seq - 11, 0), seq - 1).reverse()
    const loaded = { isWhole: true, get, heading: get, before }
    let steps = 0
    for (const { id } of all.slice(-100)) {
      const found = await why(readingOf(log), id)
      expect(found).toEqual(explain(loaded, id, options))
      steps += found?.steps.length ?? 0
    }
    expect(steps).toBeGreaterThan(300)
  })

  test('is explained from its question on', async () => {
    const log = await logOf(fieldsOf(twoCalls('a')).map(without))
    const { steps = [], cut } = (await why(readingOf(log), 'a-done')) ?? {}
    expect(steps.map(({ from }) => from).join(' ')).toBe('ana ben ben ben tool ben ben tool ben ben')
    expect([steps[0]?.text, cut]).toEqual(['please do a', false])
  })

  test('is explained by what its reader may read, and has been delivered', async () => {
    const said = [chat('private', 'psst', { to: ['ben'] }), chat('open', 'yes', { correlationId: 'private' })]
    const log = await logOf(fieldsOf([['ana', ...said]]))
    expect(await why(readingOf(log), 'open')).toMatchObject({ steps: [{ id: 'open' }], cut: true })
    expect(await why(readingOf(log), 'private')).toBeUndefined()
    expect(await why(readingOf(log, 2), 'open')).toBeUndefined()
  })

  test('is explained in part where what led to it was pruned', async () => {
    const log = await logOf(fieldsOf(twoCalls('a')).map(without))
    await log.prune(2, Buffer.from('{}'))
    const { steps = [], cut } = (await why(readingOf(log), 'a-done')) ?? {}
    expect([steps[0]?.id, steps.length, cut]).toEqual(['a-run', 9, true])
  })
})
