import { createGateway, type Gateway, tokenAuthenticator } from '@meup/gateway'
import { dialInMemory, FakeClock, type MemoryLine, testSpaceConfig, testToken } from '@meup/gateway/testing'
import { correlations, type Envelope, GATEWAY, type PresencePayload } from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { parseEnvelope } from '../src/log/entries.js'
import { SharedMemory } from './shared-memory.js'

/** Agents: ben and cleo run one program at a time, many runs several, and old does not name its sessions. */
const agents = ['ben', 'cleo', 'many', 'old'] as const
type Agent = (typeof agents)[number]
const participants = {
  ana: { kind: 'human', capabilities: ['*'] },
  ben: { kind: 'agent', capabilities: ['*'] },
  cleo: { kind: 'mcp', capabilities: ['*'] },
  many: { kind: 'agent', capabilities: ['*'], programs: 'many' as const },
  old: { kind: 'agent', capabilities: ['*'] },
}
const abandonAfterMs = 60_000
/** Milliseconds within which the gateway must react to an end. */
const slackMs = 10_000
/** Milliseconds per step of the clock: less than the timeout of a commit. */
const stepMs = 4000

/** Moves to draw from: those that are listed repeatedly are drawn more often. */
const moves = [
  ...['connect', 'connect', 'resume', 'resume', 'begin', 'begin', 'begin', 'call', 'call'],
  ...['crash', 'crash', 'bye', 'exit', 'wait', 'wait', 'kill'],
] as const

interface Move {
  readonly what: string
  readonly who: Agent
  readonly nth: number
  readonly ms: number
}

/** Histories in which most moves are of one agent, so that its moves interact. */
const history = fc.constantFrom(...agents).chain((focus) =>
  fc.array(
    fc.record<Move>({
      what: fc.constantFrom(...moves),
      who: fc.oneof({ weight: 4, arbitrary: fc.constant(focus) }, fc.constantFrom(...agents)),
      nth: fc.nat(7),
      ms: fc.oneof(fc.nat(5000), fc.nat(20_000), fc.nat(90_000), fc.constantFrom(59_000, 61_000)),
    }),
    { minLength: 20, maxLength: 60, size: 'max' },
  ),
)

/** A program as its operator sees it: running, or ended at `endedAt`, whatever the gateways have logged about it. */
interface Program {
  readonly participant: Agent
  readonly session: string | undefined
  readonly since: number
  readonly lines: { readonly gateway: string; readonly line: MemoryLine }[]
  /** Periods without any connection, by `World.clock`; the last one may have no end (`Infinity`). */
  readonly gaps: [from: number, to: number][]
  endedAt?: number
}

class World {
  readonly clock = new FakeClock()
  readonly programs: Program[] = []
  readonly runs: { readonly id: string; readonly program: Program }[] = []
  readonly calls: { readonly id: string; readonly to: Agent; readonly at: number }[] = []
  /**
   * Times at which another gateway became the leader. From each on, absent programs may stay away for all of `abandonAfterMs`
   * again.
   */
  readonly takenOver: number[] = []
  readonly #log = new SharedMemory()
  readonly #gateways = new Map<string, Gateway>()
  #ids = 0

  async open(): Promise<void> {
    for (let n = 0; n < 2; n++) await this.#addGateway()
  }

  async play({ what, who, nth, ms }: Move): Promise<void> {
    const [gateway = ''] = [...this.#gateways.keys()].slice(nth % this.#gateways.size)
    const own = this.programs.filter((each) => each.participant === who)
    const program = own[nth % Math.max(own.length, 1)]
    const isThere = program !== undefined && program.lines.length > 0
    if (what === 'wait') await this.wait(ms)
    else if (what === 'kill') await this.#kill(gateway)
    else if (what === 'call') await this.#call(who, gateway)
    // The move is skipped, because without a leader the order of connections is unknown.
    else if (what === 'connect' && !this.#log.isLed && own.some(({ endedAt }) => endedAt === undefined))
      return
    else if (what === 'connect') await this.#connect(who, gateway, this.#newSession(who))
    else if (program === undefined) return
    // The move is skipped, because the program's session may have ended; connecting again would then begin another one.
    else if (program.endedAt === undefined && wasAway(program, this.clock.now())) return
    else if (what === 'resume') await this.#resume(program, gateway)
    else if (what === 'begin' && isThere) this.#begin(program)
    else if (what === 'crash' && isThere) this.#drop(program, '')
    else if (what === 'bye' && isThere && program.session !== undefined) {
      program.endedAt = this.clock.now()
      this.#drop(program, 'bye')
    } else if (what === 'exit' && program.session !== undefined && program.endedAt === undefined) {
      program.endedAt = this.clock.now()
      this.#drop(program, '')
      this.#gateways.get(gateway)?.endProgram('test', who, program.session)
    }
    await flush()
  }

  async wait(ms: number): Promise<void> {
    if (this.#log.elect()) this.takenOver.push(this.clock.now())
    await flush()
    for (let left = ms; left > 0; left -= stepMs) {
      this.clock.advance(Math.min(left, stepMs))
      await flush()
    }
  }

  async envelopes(): Promise<Envelope[]> {
    return (await this.#log.read()).map(parseEnvelope)
  }

  #newSession(who: Agent): string | undefined {
    return who === 'old' ? undefined : `s${++this.#ids}`
  }

  async #addGateway(): Promise<void> {
    const name = `g${++this.#ids}`
    // A clock whose tasks do nothing after the gateway has been killed.
    const clock = {
      now: () => this.clock.now(),
      after: (ms: number, task: () => void) =>
        this.clock.after(ms, () => {
          if (this.#gateways.has(name)) task()
        }),
    }
    const ids = Object.keys(participants)
    const gateway = await createGateway({
      spaces: [testSpaceConfig({ participants, limits: { connectionsPerParticipant: 1000 } })],
      store: this.#log.join(name),
      authenticator: tokenAuthenticator({ test: Object.fromEntries(ids.map((id) => [id, testToken(id)])) }),
      clock,
    })
    this.#gateways.set(name, gateway)
    await flush()
  }

  async #kill(name: string): Promise<void> {
    this.#gateways.delete(name)
    this.#log.kill(name)
    for (const program of this.programs) this.#lose(program, (each) => each.gateway === name)
    await flush()
    await this.#addGateway()
  }

  async #connect(who: Agent, gateway: string, session: string | undefined): Promise<void> {
    const now = this.clock.now()
    const program: Program = { participant: who, session, since: now, lines: [], gaps: [] }
    if (who === 'old') {
      const [known] = this.programs.filter((each) => each.participant === who)
      if (known !== undefined) return this.#resume(known, gateway)
    }
    const earlier = this.programs.filter((each) => each.participant === who && each.endedAt === undefined)
    await this.#dial(program, gateway)
    this.programs.push(program)
    if (who === 'many' || who === 'old') return
    for (const each of earlier) {
      each.endedAt = now
      this.#lose(each, () => true)
    }
  }

  async #resume(program: Program, gateway: string): Promise<void> {
    if (program.endedAt !== undefined) {
      const isReplaced = this.#gateways
        .get(gateway)
        ?.isReplaced('test', program.participant, program.session ?? '')
      if (isReplaced)
        await expect(this.#dial(program, gateway)).rejects.toMatchObject({ code: 'session_replaced' })
      return
    }
    const isAlone = this.programs.every(
      (each) => each === program || each.participant !== program.participant || each.endedAt !== undefined,
    )
    if (!isAlone && program.participant !== 'many') return
    if (program.lines.length < 3) await this.#dial(program, gateway)
  }

  async #dial(program: Program, gateway: string): Promise<void> {
    const { participant, session, lines, gaps } = program
    const entry: Program['lines'][number] = {
      gateway,
      line: await dialInMemory(
        this.#gateways.get(gateway) as Gateway,
        { space: 'test', token: testToken(participant), ...(session !== undefined && { session }) },
        { message: () => {}, close: () => this.#lose(program, (each) => each === entry) },
      ),
    }
    const gap = gaps.at(-1)
    if (lines.length === 0 && gap !== undefined) gap[1] = this.clock.now()
    lines.push(entry)
  }

  /** Sends a start over the first connection of the program, at any gateway. */
  #begin(program: Program): void {
    const id = `r${++this.#ids}`
    this.runs.push({ id, program })
    program.lines[0]?.line.send(JSON.stringify({ id, kind: 'reasoning.start' }))
  }

  async #call(to: Agent, gateway: string): Promise<void> {
    const id = `c${++this.#ids}`
    const payload = { jsonrpc: '2.0', id, method: 'ping' }
    const line = await dialInMemory(
      this.#gateways.get(gateway) as Gateway,
      { space: 'test', token: testToken('ana') },
      { message: () => {}, close: () => {} },
    )
    line.send(JSON.stringify({ id, kind: 'mcp.request', to: [to], payload }))
    await flush()
    line.close(1000, '')
    this.calls.push({ id, to, at: this.clock.now() })
  }

  #drop(program: Program, reason: string): void {
    const lines = [...program.lines]
    this.#lose(program, () => true)
    for (const { line } of lines) line.close(1000, reason)
  }

  #lose({ lines, gaps }: Program, isLost: (line: Program['lines'][number]) => boolean): void {
    if (lines.length === 0) return
    const left = lines.filter((each) => !isLost(each))
    lines.splice(0, lines.length, ...left)
    if (left.length === 0) gaps.push([this.clock.now(), Number.POSITIVE_INFINITY])
  }
}

const flush = async (): Promise<void> => {
  for (let n = 0; n < 12; n++) await new Promise((resolve) => setImmediate(resolve))
}

/** Whether the program was absent for the whole period `abandonAfterMs` before the time `by`. */
const wasAway = ({ gaps }: Program, by: number): boolean =>
  gaps.some(([from, to]) => from + abandonAfterMs <= by && from + abandonAfterMs <= to)

/** Latest time at which the runs and calls of a program must be ended; `undefined` = the program runs. */
function dueAt(program: Program, { takenOver }: World): number | undefined {
  if (program.endedAt !== undefined) return program.endedAt + slackMs
  const [from, to] = program.gaps.at(-1) ?? [0, 0]
  if (to !== Number.POSITIVE_INFINITY) return undefined
  return (
    Math.max(from, ...takenOver.filter((at) => at <= from + abandonAfterMs + slackMs)) +
    abandonAfterMs +
    slackMs
  )
}

const timeOf = ({ ts }: Envelope): number => Date.parse(ts)

async function check(world: World): Promise<void> {
  const all = await world.envelopes()
  const inLog = new Set(all.map(({ id }) => id))
  const cancels = new Map(
    all.flatMap((each) =>
      each.kind === 'reasoning.cancel' && each.from === GATEWAY ? [[each.context, each] as const] : [],
    ),
  )
  for (const { id, program } of world.runs) {
    if (!inLog.has(id)) continue
    const end = cancels.get(id)
    const due = dueAt(program, world)
    if (end === undefined) expect(due, `${id} of ${program.session} is open`).toBeUndefined()
    else {
      const at = timeOf(end)
      if (due !== undefined && !wasAway(program, at)) expect(at, `${id} ended late`).toBeLessThanOrEqual(due)
      const isOver = (program.endedAt ?? Number.POSITIVE_INFINITY) <= at || wasAway(program, at)
      expect(isOver, `${id} of ${program.session} was ended while it ran`).toBe(true)
    }
  }
  const answers = new Map(
    all.flatMap((each) =>
      each.kind === 'mcp.response' ? correlations(each).map((id) => [id, each] as const) : [],
    ),
  )
  // Only sessions whose begin is in the log count: without a leader, no gateway logs begins and ends.
  const begun = new Set(
    all.flatMap(({ kind, payload }) => {
      const { participant, session } = payload as unknown as PresencePayload
      return kind === 'system.presence' && session?.event === 'begun'
        ? [`${participant.id} ${session.id}`]
        : []
    }),
  )
  for (const { id, to, at: asked } of world.calls) {
    if (!inLog.has(id)) continue
    const own = world.programs.filter(({ participant }) => participant === to)
    const answer = answers.get(id)
    const living = (by: number): Program[] =>
      own.filter(
        (each) => each.since < by && !((each.endedAt ?? Number.POSITIVE_INFINITY) <= by || wasAway(each, by)),
      )
    if (answer !== undefined) {
      expect(
        living(timeOf(answer)).map(({ session }) => session),
        `${id} was answered too early`,
      ).toEqual([])
      continue
    }
    const ends = own.flatMap(({ endedAt, session }) =>
      endedAt !== undefined && endedAt > asked && begun.has(`${to} ${session}`) ? [endedAt] : [],
    )
    for (const end of ends) expect(living(end + 1), `${id} is open though ${to} has ended`).not.toEqual([])
  }
}

describe('whatever programs and gateways do', () => {
  test('what a program has open ends with it, and nothing of one that runs', {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(history, async (played) => {
        const world = new World()
        await world.open()
        for (const move of played) await world.play(move)
        await world.wait(3 * abandonAfterMs)
        await check(world)
      }),
      { numRuns: times(10, 10_000), seed: 20261128 },
    )
  })
})
