import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Call } from '@meup/folds'
import { type Envelope, Kind, type ParticipantDetails, PROTOCOL, type WelcomePayload } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { repositoryRoot } from './files.js'

const folder = join(repositoryRoot, 'protocol/fixtures/folds')

/** Kinds of facts about a space. In a fixture, `null` instead of a fact = there is no such fact. */
const factNames = ['participants', 'contexts', 'calls', 'grants', 'answers'] as const
type FactName = (typeof factNames)[number]
export type Facts = { readonly [Name in FactName]?: Readonly<Record<string, object | null>> }

/** A fixture: a part of a log, with facts that every reader of it must find. */
export interface FoldFixture {
  /** Name of the file without its number, as a sentence. */
  readonly name: string
  readonly description: string
  /** The welcome that a reader begins with; absent = the reader begins with the log. */
  readonly welcome: WelcomePayload | undefined
  readonly envelopes: readonly Envelope[]
  /** Time of the last envelope, in milliseconds since 1970, at which the facts are read. */
  readonly now: number
  readonly expect: Facts
}

interface Written {
  readonly description: string
  readonly start?: { readonly welcome: Partial<WelcomePayload> }
  readonly envelopes: readonly (Partial<Envelope> & Pick<Envelope, 'kind'>)[]
  readonly expect: Facts
}

const begin = Date.parse('2026-01-01T00:00:00.000Z')

/** Completes an envelope of a fixture: seqs from 1, one second apart, the sender ana, and ids `e1`, `e2` and so on. */
const fill = (written: Partial<Envelope> & Pick<Envelope, 'kind'>, at: number): Envelope => ({
  protocol: PROTOCOL,
  // Deltas are not logged, so they have no seq.
  ...(written.kind !== Kind.chatDelta && { seq: at + 1 }),
  ts: new Date(begin + (written.seq ?? at + 1) * 1000).toISOString(),
  from: 'ana',
  id: `e${written.seq ?? at + 1}`,
  payload: {},
  ...written,
})

const welcomed = (welcome: Partial<WelcomePayload>): WelcomePayload =>
  ({
    you: { id: 'ana', capabilities: ['*'] },
    space: { id: 'test', head: 0, epoch: 'epoch' },
    participants: [],
    contexts: [],
    limits: { maxPayloadChars: 1, rates: {} },
    ...welcome,
  }) as unknown as WelcomePayload

/** Loads all fixtures, by number. Throws for a file that is not a fixture, and for two fixtures that contradict each other. */
export function loadFoldFixtures(names = readdirSync(folder), read = readFile): FoldFixture[] {
  const [files, known] = [new Map<string, string>(), new Map<string, { file: string; expect: Facts }>()]
  return names.toSorted().map((file) => {
    const [, number = '', words] = /^(\d{3})-([a-z0-9-]+)\.json$/.exec(file) ?? []
    if (words === undefined) throw new Error(`${file}: name it NNN-what-it-shows.json`)
    const other = files.get(number)
    if (other !== undefined) throw new Error(`${file} has the number of ${other}`)
    files.set(number, file)
    const { description, start, envelopes, expect } = parse(file, read(file))
    const unknown = Object.keys(expect).find((name) => !factNames.includes(name as FactName))
    if (unknown !== undefined)
      throw new Error(`${file}: there are no facts "${unknown}": ${factNames.join(', ')}`)
    const key = JSON.stringify([start, envelopes])
    const same = known.get(key)
    if (same !== undefined) mustAgree(file, expect, same)
    known.set(key, { file, expect })
    const welcome = start && welcomed(start.welcome)
    const [name, filled] = [words.replaceAll('-', ' '), envelopes.map(fill)]
    const now = Date.parse(filled.at(-1)?.ts ?? '') || begin
    return { name, description, welcome, envelopes: filled, now, expect }
  })
}

function parse(file: string, text: string): Written {
  try {
    return JSON.parse(text) as Written
  } catch (cause) {
    throw new Error(`${file} is no JSON`, { cause })
  }
}

const readFile = (file: string): string => readFileSync(join(folder, file), 'utf8')

function mustAgree(
  file: string,
  facts: Facts,
  other: { readonly file: string; readonly expect: Facts },
): void {
  for (const name of factNames) {
    for (const [id, fact] of Object.entries(facts[name] ?? {})) {
      const there = other.expect[name]?.[id]
      if (there !== undefined && !agree(fact, there))
        throw new Error(`${file} contradicts ${other.file} about ${name}.${id}`)
    }
  }
}

/** Whether two facts agree: both are absent, or the fields that both have are equal. */
function agree(one: object | null, other: object | null): boolean {
  if (one === null || other === null) return one === other
  const fields = new Map<string, unknown>(Object.entries(other))
  return Object.entries(one).every(
    ([field, value]) => !fields.has(field) || isDeepStrictEqual(value, fields.get(field)),
  )
}

interface Reader {
  /** Fields that the reader knows, by kind of fact. The reader does not read other kinds. */
  readonly knows: { readonly [Name in FactName]?: readonly string[] }
  /** Returns the reader's facts about the space after the envelopes of a fixture. */
  readonly read: (fixture: FoldFixture) => Facts | Promise<Facts>
  /** Whether the reader does not keep a fact, so that it must report none. */
  readonly forgets?: (id: string, fact: object) => boolean
  /** Whether the reader cannot read a fixture. */
  readonly skips?: (fixture: FoldFixture) => boolean
}

/** Tests a reader with every fixture that has a kind of fact which the reader knows. */
export function testFoldFixtures(
  reader: string,
  { knows, read, forgets = () => false, skips = () => false }: Reader,
): void {
  const fixtures = loadFoldFixtures().filter(
    (fixture) => factNames.some((name) => knows[name] && fixture.expect[name]) && !skips(fixture),
  )
  describe(`${reader} reads`, () => {
    async function check(fixture: FoldFixture): Promise<void> {
      const seen = await read(fixture)
      for (const name of factNames) {
        const fields = knows[name]
        if (fields === undefined) continue
        for (const [id, fact] of Object.entries(fixture.expect[name] ?? {})) {
          const what = `${fixture.name}, ${name}.${id}: ${fixture.description}`
          const there = seen[name]?.[id]
          if (fact === null || forgets(id, fact)) expect(there ?? null, what).toBeNull()
          else expect(there, what).toMatchObject(pick(fact, fields))
        }
      }
    }

    test.each(fixtures.map((fixture) => [fixture.name, fixture] as const))('%s', async (_, fixture) => {
      await check(fixture)
    })

    test('the same with kinds in between that it does not know', async () => {
      for (const fixture of fixtures) await check(withUnknownKinds(fixture))
    })

    test('what is left of a log whose beginning is missing', async () => {
      for (const fixture of fixtures) {
        for (const at of fixture.envelopes.keys())
          await read({ ...fixture, envelopes: fixture.envelopes.slice(at + 1) })
      }
    })
  })
}

/** Inserts an envelope of an unknown kind after each envelope, with the same fields. It must not change any fact. */
function withUnknownKinds(fixture: FoldFixture): FoldFixture {
  const envelopes = fixture.envelopes.flatMap((envelope) => {
    const { seq, payload } = envelope
    if (seq === undefined) return [envelope]
    const moved = {
      ...payload,
      ...(typeof payload.through === 'number' && { through: 2 * payload.through }),
      ...(typeof payload.seq === 'number' && { seq: 2 * payload.seq - 1 }),
    }
    const unknown = { ...envelope, id: `later-${seq}`, seq: 2 * seq, kind: 'later.kind' }
    return [{ ...envelope, seq: 2 * seq - 1, payload: moved }, unknown]
  })
  const { welcome } = fixture
  const space = welcome && { ...welcome.space, head: 2 * welcome.space.head }
  return { ...fixture, envelopes, welcome: welcome && space && { ...welcome, space } }
}

/** Converts a call to the form of fixtures. */
export const callFact = ({ answeredBy, rejectedBy, ...call }: Call<unknown>): object => ({
  ...call,
  answeredBy: [...answeredBy],
  rejectedBy: [...rejectedBy],
})

export const callFields = [
  ...['kind', 'from', 'to', 'state', 'answeredBy', 'rejectedBy', 'usesLeft', 'programEnded'],
]

const pick = (fact: object, fields: readonly string[]): object =>
  Object.fromEntries(Object.entries(fact).filter(([field]) => fields.includes(field)))

/** Converts a participant to the form of fixtures. */
export function participantFact({
  paused,
  kicked,
  program,
  description,
  ...info
}: ParticipantDetails): object {
  const whole = (restriction: typeof paused): object | null =>
    restriction ? { reason: null, until: null, ...restriction } : null
  const absent = { program: program ?? null, description: description ?? null }
  return { ...info, paused: whole(paused), kicked: whole(kicked), ...absent }
}

export const participantFields = [
  'status',
  'kind',
  'capabilities',
  'paused',
  'kicked',
  'program',
  'description',
]
