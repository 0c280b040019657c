import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agents, caughtUp, fill, type Reading, space, startOn } from './support/gateways.js'

/**
 * What reading costs, and how much more of it there is where the log is ten and a hundred times as long. All logs are open
 * at once and asked in turn, so that whatever else the machine does slows all of them alike.
 *
 *     ENVELOPES=10000,100000 npx tsx bench/history.ts    other sizes than 10,000, 100,000 and 1,000,000
 *     KEEP=/somewhere npx tsx bench/history.ts           the logs stay there, and are used by the next run
 */
const sizes = (process.env.ENVELOPES ?? '10000,100000,1000000').split(',').map(Number)
const rounds = 200

interface Log extends Reading {
  readonly size: number
}

/** What is asked for in one round of a log with so many turns. */
const questions: Record<string, (round: number, turns: number) => string> = {
  'the latest 20 turns of a thread': (i) => `turns?thread_id=${space}/agent-${i % agents}`,
  '9 turns in the middle of a thread': (i, turns) =>
    `turns?thread_id=${space}/agent-${i % agents}&before=${Math.max(1, Math.floor(turns / agents / 2))}&limit=9`,
  'what happened in one context': (i, turns) => `envelopes?context=run-${some(i, turns)}`,
  'one context and what is nested in it': (i, turns) =>
    `contexts/run-${turns - 1 - (i % Math.min(turns, 500))}`,
  'the latest 100 steps of the audit': () => 'audit?limit=100',
  '100 steps from the middle': (i, turns) => `audit?limit=100&before=${some(i, turns) * 10 + 2}`,
  'the steps of one turn': (i) => `audit?thread_id=${space}/agent-${i % agents}&turn=7`,
  'the latest 20 errors': () => 'audit?limit=20&phase=error',
  'the latest 100 envelopes': () => 'envelopes?limit=100&order=desc',
  '100 envelopes from the middle': (i, turns) => `envelopes?limit=100&after=${some(i, turns) * 10}`,
}

const some = (round: number, turns: number): number => Math.floor((turns * (round + 0.5)) / rounds)
const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`
const inMemory = (): string => megabytes(process.memoryUsage().rss)

/** Seconds. */
async function timed(task: () => Promise<unknown>): Promise<string> {
  const start = performance.now()
  await task()
  return `${((performance.now() - start) / 1000).toFixed(1)} s`
}

async function open(folder: string, size: number): Promise<Log> {
  const path = join(folder, `${size}.db`)
  const say = (what: string) => console.log(`${size} envelopes: ${what}`)
  if (!existsSync(path)) say(`logged in ${await timed(() => fill(path, size))}`)
  let reading: Reading | undefined
  const start = async () => {
    reading = await startOn(path)
    return reading
  }
  say(`first start in ${await timed(start)}`)
  say(`turns and steps there after ${await timed(async () => reading && caughtUp(reading))}`)
  await reading?.close()
  const startAgain = async () => caughtUp(await start())
  say(
    `start after a clean stop in ${await timed(startAgain)}, turns and steps there; ${inMemory()} in memory`,
  )
  if (reading === undefined) throw new Error('it has not been started')
  return { ...reading, size }
}

/** Milliseconds until all of the answer is read. */
async function ask({ get }: Log, path: string): Promise<number> {
  const start = performance.now()
  const answer = await get(path)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${text.slice(0, 200)}`)
  return performance.now() - start
}

/** Of each log, the middle one of the milliseconds that each request took. */
async function medians(logs: readonly Log[], question: (round: number, turns: number) => string) {
  const times = logs.map((): number[] => [])
  for (let round = -rounds / 4; round < rounds; round++) {
    for (const [which, log] of logs.entries()) {
      const took = await ask(log, question(Math.abs(round), Math.floor(log.size / 10)))
      if (round >= 0) times[which]?.push(took)
    }
  }
  return times.map((each) => each.sort((a, b) => a - b)[rounds / 2] ?? Number.NaN)
}

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
console.log(`${inMemory()} in memory, of all logs together`)
for (const { close } of logs) await close()
if (process.env.KEEP === undefined) rmSync(folder, { recursive: true })
