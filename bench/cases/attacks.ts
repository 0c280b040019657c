import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { attackerName, attacks as known } from '../attacks/attacks.js'
import { honest, type Service, useHonestly } from '../attacks/honest.js'
import { spaceName } from '../load/dialects.js'
import type { Options } from '../load/options.js'
import { pause } from '../load/waiting.js'
import { startGateway } from '../peers/contenders.js'
import { atExit, type ServerProcess } from '../peers/process.js'
import { receiverName, senderName, tokenOf, writeAttackedSpace } from '../peers/space.js'
import { count, decimals, median, type Section, times } from '../report/section.js'
import { fill } from '../support/gateways.js'

/** Duration as a multiple of `--ms`: of an attack, and of all attacks together. */
const [factor, allFactor] = [10, 10]
/** Number of envelopes in the log before the attack; fewer in short measurements. */
const loggedIn = (ms: number): number => Math.min(100_000, ms * 50)
const megabyte = 2 ** 20
const starts = 3
const together = 'all together'
const none = 'none'

interface Figures {
  readonly name: string
  readonly goodput: number
  readonly ackP50: number
  readonly ackP99: number
  readonly readsP99: number
  readonly failedReads: number
  readonly megabytes: number
  /** Memory in the last fifth of the attack, divided by that in the fifth before. */
  readonly growth: number
  /** Milliseconds that a gateway takes to start with the log after the attack. */
  readonly startMs: number
}

/** Compares the service of honest participants with and without attacks. `--only` names attacks. */
export async function attacks({ ms, warmMs, only, full }: Options): Promise<Section[]> {
  const names = only ?? [...Object.keys(known), ...(full ? [together] : [])]
  const unknown = names.filter((name) => name !== together && !Object.hasOwn(known, name))
  if (unknown.length > 0) {
    throw new Error(
      `there is no ${unknown.join(', ')}; there are ${Object.keys(known).join(', ')} and ${together}`,
    )
  }
  const folder = temporaryFolder()
  await prepare(folder, loggedIn(ms))
  const figures: Figures[] = []
  for (const name of [none, ...names]) {
    const isAll = name === together
    figures.push(await measure(name, folder, { ms: ms * factor * (isAll ? allFactor : 1), warmMs }))
    console.error(describe(figures.at(-1) as Figures))
  }
  const [base] = figures
  if (base === undefined) throw new Error('nothing was measured')
  return [
    {
      id: 'attacks',
      title: 'Attacks',
      about: `One participant attacks for ${count((ms * factor) / 1000)} s at default rates, from a process on the other core that gives way to the honest: ${honest.senders} send ${honest.chatsPerSecond} chats a second each, ${honest.readers} read a page of ${honest.pageRows} every ${honest.pageEveryMs} ms from a log of ${count(loggedIn(ms))}. Goodput and starts beside those without an attack.`,
      columns: [
        '',
        'goodput',
        'ack p50, ms',
        'ack p99',
        'reads p99, ms',
        'failed',
        'MB',
        'MB grows',
        'start',
      ],
      rows: figures.map((each) => [
        each.name,
        times(each.goodput / base.goodput),
        ...[each.ackP50, each.ackP99, each.readsP99].map((value) => decimals(value, 1)),
        count(each.failedReads),
        decimals(each.megabytes, 0),
        times(each.growth),
        times(each.startMs / base.startMs),
      ]),
      figures,
    },
  ]
}

/** Prepares a folder with a long log, which a gateway has already indexed. */
async function prepare(folder: string, envelopes: number): Promise<void> {
  const seats = [
    ...Array.from({ length: honest.senders }, (_, i) => senderName(i)),
    ...Array.from({ length: honest.readers }, (_, i) => receiverName(i)),
  ]
  writeAttackedSpace(folder, seats, attackerName)
  await fill(logIn(folder), envelopes, spaceName)
  const server = await startGateway(folder)
  const isBehind = async (): Promise<boolean> => {
    const path = `/spaces/${spaceName}/turns?thread_id=${spaceName}/agent-0`
    return (await get(server, path)).status === 503
  }
  while (await isBehind()) await pause(100)
  await server.stop()
}

async function measure(
  name: string,
  filled: string,
  { ms, warmMs }: Pick<Options, 'ms' | 'warmMs'>,
): Promise<Figures> {
  const folder = temporaryFolder()
  cpSync(filled, folder, { recursive: true })
  // Flushes the copied log to disk now; otherwise the first commit of the gateway would wait for the flush.
  execFileSync('sync')
  const server = await startGateway(folder)
  let service: Service
  const memory: number[] = []
  try {
    await useHonestly(server.port, warmMs)
    const sampling = setInterval(() => memory.push(server.rss() / megabyte), ms / 100)
    const stopAttack =
      name === none ? () => {} : await attack(name === together ? Object.keys(known) : [name], server)
    service = await useHonestly(server.port, ms)
    clearInterval(sampling)
    stopAttack()
  } finally {
    await server.stop()
  }
  const startsMs: number[] = []
  for (let i = 0; i < starts; i++) {
    const begin = performance.now()
    const again = await startGateway(folder)
    startsMs.push(performance.now() - begin)
    await again.stop()
  }
  rmSync(folder, { recursive: true, force: true })
  const { sent, acks, reads, failedReads } = service
  const fifth = Math.floor(memory.length / 5)
  return {
    ...{ name, failedReads },
    goodput: acks.length / sent,
    ackP50: quantile(acks, 0.5),
    ackP99: quantile(acks, 0.99),
    readsP99: quantile(reads, 0.99),
    megabytes: memory.at(-1) ?? Number.NaN,
    growth: mean(memory.slice(-fifth)) / mean(memory.slice(-2 * fifth, -fifth)),
    startMs: median(startsMs),
  }
}

/** Starts the attacker. Resolves once it is ready to begin, with a function that stops it. */
async function attack(names: readonly string[], server: ServerProcess): Promise<() => void> {
  const response = await get(server, `/spaces/${spaceName}/envelopes?limit=1`)
  const { epoch } = (await response.json()) as { epoch: string }
  const file = fileURLToPath(new URL('../attacks/attacker.ts', import.meta.url))
  const args = ['--import', 'tsx', file, names.join(','), `${server.port}`, epoch]
  // The attacker shares the core of the load generator, at lower priority, so that it gets the time which honest participants
  // leave.
  const child = spawn('nice', ['-n', '19', process.execPath, ...args], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const stop = (): void => {
    child.removeAllListeners('exit')
    child.kill('SIGKILL')
  }
  child.on('exit', (code) => {
    console.error(`the attacker ended with ${code}`)
  })
  atExit.add(stop)
  await pause(1000)
  return stop
}

const get = ({ port }: ServerProcess, path: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${tokenOf(attackerName)}` } })

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'meup-bench-'))
  atExit.add(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function logIn(folder: string): string {
  mkdirSync(join(folder, '.meup'), { recursive: true })
  return join(folder, '.meup', 'space.db')
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / values.length

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * part)] ?? Number.NaN

const describe = ({ name, goodput, ackP99, readsP99, megabytes, growth, startMs }: Figures): string =>
  `${name}: goodput ${times(goodput)}, ack p99 ${decimals(ackP99, 1)} ms, reads p99 ${decimals(readsP99, 1)} ms, ${decimals(megabytes, 0)} MB, grows ${times(growth)}, start ${decimals(startMs, 0)} ms`
