import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HttpClient } from '@meup/agent-sdk/http'
import { createTestGateway, fetchInMemory, testToken } from '@meup/gateway/testing'
import type { Options } from '../load/options.js'
import { decimals, type Section } from '../report/section.js'
import { type FailedRun, readFailedRuns, replay } from '../support/failed-runs.js'

const parts = ['algorithm-generated', 'hand-crafted'] as const
const usual = fileURLToPath(new URL('../../../shared/fixtures/attribution', import.meta.url))

/** A recorded run, with the effort of a reader who looks for the decisive step in the ranked causes that `why` lists. */
interface ReadRun {
  readonly run: FailedRun
  /** Number of entries that a reader opens, by rank, until one belongs to the decisive step; `undefined` = none does. */
  readonly looks: number | undefined
}

/**
 * Tests the ranks of `why` on recorded runs of agents that failed: replays each run into a space, and opens the entries that
 * `why` gives for the last answer, by rank, until one belongs to the step that decided the failure.
 */
export async function why({ data = usual }: Options): Promise<Section[]> {
  const missing = parts.find((part) => !existsSync(join(data, part)))
  if (missing !== undefined) {
    console.error(
      `there is no folder ${resolve(data, missing)}. The data is published in the repository ` +
        'ag2ai/Agents_Failure_Attribution (the folder "Who&When"): name its folder with --data.',
    )
    process.exit(2)
  }
  const sections: Section[] = []
  for (const part of parts) {
    const read: ReadRun[] = []
    for (const run of readFailedRuns(join(data, part))) read.push({ run, looks: await readRun(run) })
    sections.push(summarize(part, read))
  }
  return sections
}

async function readRun(run: FailedRun): Promise<number | undefined> {
  const sent = replay(run)
  const ids = [
    ...new Set(['user', ...run.steps.flatMap(({ from, to }) => (to === undefined ? [from] : [from, to]))]),
  ]
  const gateway = await createTestGateway({
    participants: Object.fromEntries(ids.map((id) => [id, ['*']])),
    limits: { agentHops: 1_000_000 },
  })
  try {
    const connect = (id: string): HttpClient =>
      new HttpClient({
        ...{ url: 'http://memory', space: 'test', token: testToken(id) },
        fetch: fetchInMemory(gateway),
      })
    const clients = new Map(ids.map((id) => [id, connect(id)]))
    for (const { from, envelope } of sent) await clients.get(from)?.postJson('envelopes', envelope)
    const { steps } = (await clients.get('user')?.why(sent.at(-1)?.envelope.id ?? '')) ?? { steps: [] }
    const decisive = new Set(
      sent.filter(({ step }) => step === run.decisive).map(({ envelope }) => envelope.id),
    )
    const found = steps.filter(({ id }) => decisive.has(id)).map(({ rank }) => rank)
    return found.length === 0 ? undefined : Math.min(...found)
  } finally {
    await gateway.close()
  }
}

const percent = (part: number): string => `${decimals(100 * part, 1)} %`
const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
}
const share = (all: readonly boolean[]): number => all.filter(Boolean).length / all.length

/**
 * Shares of the steps of a run. The curve shows, for each share, in how many runs a reader who opens that many entries finds
 * the decisive step.
 */
const curve = [0.05, 0.1, 0.15, 0.2, 0.25, 0.33, 0.5, 0.75, 1]

function summarize(part: string, read: readonly ReadRun[]): Section {
  const row = (name: string, all: readonly ReadRun[]): string[] => {
    const looks = all.map((each) => each.looks ?? Number.POSITIVE_INFINITY)
    const hit = (maxLooks: number): string => percent(share(looks.map((each) => each <= maxLooks)))
    return [name, `${all.length}`, decimals(median(looks), 1), hit(1), hit(3), hit(5)]
  }
  const decisive = read.map(({ run }) => run.decisive)
  const lengths = read.map(({ run }) => run.steps.length)
  const backwards = read.map(({ run }) => run.steps.length - run.decisive)
  const within = (maxLooks: number): string => percent(share(backwards.map((each) => each <= maxLooks)))
  const random = (maxLooks: number): string =>
    percent(lengths.reduce((sum, each) => sum + Math.min(1, maxLooks / each), 0) / lengths.length)
  const constants = countConstants(decisive)
  const constant = (maxLooks: number): string =>
    percent(constants.slice(0, maxLooks).reduce((sum, each) => sum + each, 0) / read.length)
  const reached = (part: number): number =>
    share(read.map(({ run, looks }) => looks !== undefined && looks <= Math.max(1, part * run.steps.length)))
  const text = curve.map((each) => `${percent(each)} of the steps: ${percent(reached(each))} of the runs`)
  const halves = [0, 1].map((half) => read.filter((_, index) => index % 2 === half))
  return {
    id: `why-${part}`,
    title: `Looks until the decisive step, ${part}`,
    columns: ['reading', 'runs', 'median', 'within 1', 'within 3', 'within 5'],
    rows: [
      row('by the ranks of why', read),
      row('  even runs, for tuning', halves[0] ?? []),
      row('  odd runs', halves[1] ?? []),
      ['backwards', `${read.length}`, decimals(median(backwards), 1), within(1), within(3), within(5)],
      [
        ...['at random', `${read.length}`, decimals(median(lengths.map((each) => (each + 1) / 2)), 1)],
        ...[random(1), random(3), random(5)],
      ],
      [
        ...['always the same steps, in hindsight', `${read.length}`, '', constant(1), constant(3)],
        constant(5),
      ],
    ],
    figures: read.map(({ run, looks }) => ({
      file: run.file,
      steps: run.steps.length,
      looks: looks ?? null,
    })),
    text: text.join('\n'),
  }
}

/** Counts the runs by the index of their decisive step. Returns the counts, the highest first. */
function countConstants(decisive: readonly number[]): number[] {
  const counts = new Map<number, number>()
  for (const each of decisive) counts.set(each, (counts.get(each) ?? 0) + 1)
  return [...counts.values()].sort((one, other) => other - one)
}
