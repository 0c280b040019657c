import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pinGenerator } from './peers/process.js'
import { caughtUp, fill, type Reading, space, startOn } from './support/gateways.js'
import { ask, questions, rounds } from './support/questions.js'

/**
 * Measures reads of a log, and of logs ten and a hundred times as long. Each log has a gateway of its own, on one core; the client
 * is on the other. All are open at once and asked in turn, so that other load on the machine slows all of them alike.
 *
 *     ENVELOPES=10000,100000 npx tsx bench/history.ts    other sizes than 10,000, 100,000 and 1,000,000
 *     RESULTS=8192 npx tsx bench/history.ts              bytes of each tool result; default: a few
 *     KEEP=/somewhere npx tsx bench/history.ts           the logs stay there, and are used by the next run
 *     NODE_ARGS='--cpu-prof --cpu-prof-dir=/tmp' npx tsx bench/history.ts   options of Node.js for the gateways
 */
const sizes = (process.env.ENVELOPES ?? '10000,100000,1000000').split(',').map(Number)
const resultBytes = Number(process.env.RESULTS ?? 0)

interface Log extends Reading {
  readonly size: number
}

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Measures a task. Returns its duration in seconds, as text. */
async function timed(task: () => Promise<unknown>): Promise<string> {
  const start = performance.now()
  await task()
  return seconds(performance.now() - start)
}

async function open(folder: string, size: number): Promise<Log> {
  const path = join(folder, `${size}-${resultBytes}.db`)
  const say = (what: string) => console.log(`${size} envelopes: ${what}`)
  if (!existsSync(path)) say(`logged in ${await timed(() => fill(path, size, space, resultBytes))}`)
  const first = await startOn(path)
  say(`first start in ${seconds(first.startMs)}`)
  say(`indexed after ${await timed(() => caughtUp(first))}`)
  await first.close()
  const reading = await startOn(path, process.env.NODE_ARGS?.split(' '))
  const indexed = await timed(() => caughtUp(reading))
  say(
    `start after a clean stop in ${seconds(reading.startMs)}, indexed ${indexed} later; ${megabytes(reading.rss())} in memory`,
  )
  return { ...reading, size }
}

/** Measures a request until its whole response is read, in milliseconds. */
async function timeOf(log: Reading, path: string, as?: string): Promise<number> {
  const start = performance.now()
  await ask(log, path, as)
  return performance.now() - start
}

/** Measures a question on all logs alternately. Returns the median milliseconds per request, by log. */
async function medians(logs: readonly Log[], question: (round: number, turns: number) => string) {
  const times = logs.map((): number[] => [])
  for (let round = -rounds / 4; round < rounds; round++) {
    for (const [which, log] of logs.entries()) {
      const took = await timeOf(log, question(Math.abs(round), Math.floor(log.size / 10)))
      if (round >= 0) times[which]?.push(took)
    }
  }
  return times.map((each) => each.sort((a, b) => a - b)[rounds / 2] ?? Number.NaN)
}

/** Load for reads: ten readers at once, each with one request after the other, while a thousand envelopes per second arrive. */
const load = { readers: 10, warmUpSeconds: 2, seconds: 10, perSecond: 1000 }

async function underLoad(log: Log): Promise<void> {
  const asked = ['the latest 20 turns of a thread', 'the latest 100 steps of the audit'] as const
  const times = asked.map((): number[] => [])
  const started = Date.now()
  const from = performance.now() + load.warmUpSeconds * 1000
  const until = from + load.seconds * 1000
  const isOn = (): boolean => performance.now() < until
  /** The envelopes of a run. */
  const runOf = (id: string): object[] => {
    const thought = { kind: 'reasoning.thought', context: id, payload: { message: 'And on' } }
    const start = { id, kind: 'reasoning.start', payload: { message: 'On we go' } }
    const end = { kind: 'reasoning.conclusion', context: id, payload: { message: 'There' } }
    return [start, ...Array.from({ length: 8 }, () => thought), end]
  }
  const write = async (): Promise<void> => {
    for (let next = performance.now(), batch = 0; isOn(); next += 50, batch++) {
      const runs = Array.from({ length: load.perSecond / 200 }, (_, run) =>
        runOf(`live-${started}-${batch}-${run}`),
      )
      await log.post(runs.flat())
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())))
    }
  }
  const read = async (reader: number): Promise<void> => {
    for (let round = 0; isOn(); round++) {
      const which = round % asked.length
      const question = questions[asked[which] ?? '']
      const path = question?.(reader + round, Math.floor(log.size / 10)) ?? ''
      const took = await timeOf(log, path, `agent-${reader}`)
      if (performance.now() - took >= from) times[which]?.push(took)
    }
  }
  await Promise.all([write(), ...Array.from({ length: load.readers }, (_, reader) => read(reader))])
  for (const [which, name] of asked.entries()) {
    const all = (times[which] ?? []).sort((one, other) => one - other)
    const at = (part: number): string => `${(all[Math.floor(part * (all.length - 1))] ?? NaN).toFixed(1)} ms`
    line(name, [`${all.length}`, at(0.5), at(0.99), at(1)])
  }
}

pinGenerator()
const folder = process.env.KEEP ?? mkdtempSync(join(tmpdir(), 'meup-bench-'))
mkdirSync(folder, { recursive: true })
const logs: Log[] = []
for (const size of sizes) logs.push(await open(folder, size))

const line = (name: string, cells: readonly string[]): void =>
  console.log(name.padEnd(40) + cells.map((cell) => cell.padStart(14)).join(''))
console.log(`\n${rounds} requests each, one after another; medians`)
line('', [...sizes.map(String), 'last / first'])
for (const [name, question] of Object.entries(questions)) {
  const found = await medians(logs, question)
  const growth = (found.at(-1) ?? Number.NaN) / (found[0] ?? Number.NaN)
  line(name, [...found.map((each) => `${each.toFixed(1)} ms`), `${growth.toFixed(2)} x`])
}
const last = logs.at(-1)
if (last !== undefined) {
  console.log(`\n${load.readers} readers of ${last.size} envelopes, while ${load.perSecond} a second arrive`)
  line('', ['requests', 'p50', 'p99', 'worst'])
  await underLoad(last)
}
console.log(`${logs.map((log) => megabytes(log.rss())).join(', ')} in memory`)
for (const { close } of logs) await close()
if (process.env.KEEP === undefined) rmSync(folder, { recursive: true })
