import { defaultLimits, EnvelopeGuard, Kind, WorkMeter } from '@meup/protocol'
import { compileSafety, defaultSafety, tailOf, warmUp } from '@meup/safety'
import { type BenignCase, benignCases, benignKinds } from '../../packages/safety/test/corpus/benign/index.js'
import {
  changedPart,
  type Miss,
  missesOf,
  type Touched,
  touchedOf,
} from '../../packages/safety/test/corpus/score.js'
import { type SecretCase, secretCases } from '../../packages/safety/test/corpus/secrets.js'
import { measureTasks } from '../compare.js'
import type { Options } from '../load/options.js'
import { count, decimals, type Section, times } from '../report/section.js'
import { densestText, plainTexts, worstTexts } from '../support/guarded-texts.js'

const gate = compileSafety(defaultSafety)
const { guard } = gate
const { MEUP_SEED: seed = 'bench' } = process.env
/** Number of texts without a secret in each round. */
const benignTexts = 650

/**
 * Measures which secrets the safety gate masks, what it masks wrongly, and its cost. Each round has one text for each family of
 * secrets (such as the keys of one provider) in each place in which agents find secrets (such as a kind of configuration file).
 */
export async function safety(options: Options): Promise<Section[]> {
  const cost = [await costOf(options), await costOfEnvelopes(options)]
  const secrets = secretCases(seed, options.rounds).filter((_, index) => !options.smoke || index % 10 === 0)
  const misses = missesOf(secrets, guard)
  const benign = benignCases({
    seed,
    count: options.smoke ? 100 : benignTexts * options.rounds,
    system: true,
  })
  const touched = touchedOf(benign, guard)
  const found = [...keys.map((key) => hiddenBy(key, secrets, misses)), ...touchedBy(benign, touched), ...cost]
  if (!options.full) return found
  const lists = [listOf('misses', misses.map(showMiss)), listOf('touched', touched.map(showTouched))]
  return [...lists, hiddenBy('notation', secrets, misses), ...found]
}

const keys = ['group', 'family', 'place'] as const

const percent = (part: number, whole: number): string => `${decimals((100 * part) / whole, 1)} %`
const tally = (keys: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

function hiddenBy(
  key: (typeof keys)[number] | 'notation',
  secrets: readonly SecretCase[],
  misses: readonly Miss[],
): Section {
  const missed = tally(misses.map((each) => each[key]))
  const figures = [...tally(secrets.map((each) => each[key]))]
    .map(([name, texts]) => ({ name, texts, missed: missed.get(name) ?? 0 }))
    .sort((one, other) => other.missed / other.texts - one.missed / one.texts)
  const row = (name: string, texts: number, missed: number): string[] => [
    ...[name, count(texts), count(missed), percent(texts - missed, texts)],
  ]
  const partly = figures.filter(({ missed }) => missed > 0)
  const others = secrets.length - partly.reduce((sum, { texts }) => sum + texts, 0)
  return {
    id: `safety-${key}`,
    title: `Secrets that are hidden, by ${key}`,
    about: `Of ${count(secrets.length)} texts with one secret each, of seed "${seed}".`,
    columns: [key, 'texts', 'missed', 'hidden'],
    rows: [
      ...partly.map(({ name, texts, missed }) => row(name, texts, missed)),
      ...(others > 0 ? [row(`the other ${figures.length - partly.length}`, others, 0)] : []),
      row('all', secrets.length, misses.length),
    ],
    figures,
  }
}

function touchedBy(benign: readonly BenignCase[], touched: readonly Touched[]): Section[] {
  const byKind = tally(touched.map(({ kind }) => kind))
  const row = (name: string, part: number, whole: number): string[] => [
    ...[name, count(whole), count(part), percent(part, whole)],
  ]
  const kinds = benignKinds.map((kind) =>
    row(kind, byKind.get(kind) ?? 0, benign.filter((each) => each.kind === kind).length),
  )
  const byRule = [...tally(touched.flatMap(({ rules }) => rules))].sort(([, one], [, other]) => other - one)
  return [
    {
      id: 'safety-benign',
      title: 'Texts without a secret that are touched, by kind',
      about: 'From the files of this machine.',
      columns: ['kind', 'texts', 'touched', 'part'],
      rows: [...kinds, row('all', touched.length, benign.length)],
      figures: Object.fromEntries(byKind),
    },
    {
      id: 'safety-rules',
      title: 'Texts without a secret that are touched, by rule',
      columns: ['rule', 'texts'],
      rows: byRule.map(([rule, texts]) => [rule, count(texts)]),
      figures: Object.fromEntries(byRule),
    },
  ]
}

/** Measures the processor time of a task, in milliseconds. */
function cpuOf(task: () => unknown): string {
  const before = process.cpuUsage()
  task()
  const { user, system } = process.cpuUsage(before)
  return count((user + system) / 1000)
}

async function costOf({ ms, warmMs, smoke }: Options): Promise<Section> {
  // Warms up as a gateway does at its start, then measures the first text after that, the most costly one.
  const warm = cpuOf(() => [...warmUp(gate)])
  const first = cpuOf(() => guard(densestText))
  const texts = [...plainTexts, ...worstTexts]
  const measured = await measureTasks(
    texts.map(([name, text]) => [name, () => guard(text)] as const),
    { batch: 1, ms: Math.min(ms, 500), warmMs: Math.min(warmMs, 200), smoke },
  )
  const unit = measured[0]?.ns ?? Number.NaN
  const figures = measured.map(({ name, ns }, i) => ({ name, ns, length: texts[i]?.[1].length ?? 0 }))
  return {
    id: 'safety-cost',
    title: 'A text through the safety gate',
    about: `Microseconds, for all of it and for 1,024 of its characters. Warming up takes ${warm} ms, then the first text ${first} ms.`,
    columns: ['', 'µs', 'µs per KiB', 'ratio'],
    rows: figures.map(({ name, ns, length }) => [
      ...[name, decimals(ns / 1000, 1), decimals((1.024 * ns) / length), times(ns / unit)],
    ]),
    figures,
  }
}

/** Measures the cost of envelopes of the maximum size, with texts of the maximum length. */
async function costOfEnvelopes({ ms, warmMs, smoke }: Options): Promise<Section> {
  const envelopes = new EnvelopeGuard({ compile: compileSafety, tailOf }, defaultSafety)
  let runs = 0
  const tasks = [...plainTexts.slice(-1), ...worstTexts].map(([name, text]) => {
    const [message, ...parts] = textsOf(text)
    const payload = { message, metadata: { parts } }
    const bytes = Buffer.from(JSON.stringify(payload))
    const thought = { kind: Kind.reasoningThought, from: 'bot', id: 'one', payload }
    // Every call is in a new run, so that there is no previous text.
    const guard = (): unknown =>
      envelopes.guard({ ...thought, context: `run ${runs++}` }, bytes, new WorkMeter(defaultLimits.work))
    return [name.replace(/^16 Ki?B of /, ''), guard] as const
  })
  const measured = await measureTasks(tasks, {
    batch: 1,
    ms: Math.min(ms, 500),
    warmMs: Math.min(warmMs, 200),
    smoke,
  })
  const unit = measured[0]?.ns ?? Number.NaN
  return {
    id: 'safety-envelopes',
    title: `A thought of ${count(largest / 1024)} KiB through the safety gate`,
    about: `With ${count(defaultLimits.work)} units of work: what is not scanned for them is withheld.`,
    columns: ['texts of', 'ms', 'ratio'],
    rows: measured.map(({ name, ns }) => [name, decimals(ns / 1e6, 2), times(ns / unit)]),
    figures: measured,
  }
}

const largest = 250 * 1024

function textsOf(text: string): string[] {
  const { maxLength } = defaultSafety
  const whole = text.repeat(Math.ceil(maxLength / text.length))
  return Array.from({ length: Math.ceil(largest / maxLength) }, () => whole.slice(0, maxLength))
}

const listOf = (name: string, items: readonly string[]): Section => ({
  ...{ id: `safety-${name}`, title: `The ${name}`, columns: [], rows: [], figures: items },
  text: items.join('\n\n'),
})

const showMiss = ({ family, place, text }: Miss): string => `--- ${family}, ${place}\n${text}`
const showTouched = (each: Touched): string =>
  `--- ${each.kind}, ${each.source}: ${each.rules.join(', ')}\n${changedPart(each)}`
