import type { BatchEnd } from '@meup/views'
import { closedError } from '../log/error.js'
import type { Projection } from '../ports/projection.js'
import { Recovery } from '../space/recovery.js'
import type { Space } from '../space/space.js'
import { restMs } from './rest.js'

/** Envelopes that the projection takes at once where it is far behind: so much of it is in memory. */
const stride = 1000
/** Part of the time past which this thread counts as busy: where one core does all, the log takes as much. */
const busy = 0.25
/** Past this it rests no more, however busy the gateway is. */
const mostBehind = 500_000

type Asked = 'turns' | 'steps' | 'ends' | 'trail' | 'stepsOf' | 'keep' | 'older' | 'prune'

/**
 * Keeps the turns and steps of a space up with what was delivered. Nothing that happens in the space waits for it; who asks
 * for turns or steps does, and is told of everything that was delivered before.
 */
export class Projector implements Pick<Projection, Asked> {
  /**
   * Called as it goes on, in order, each batch once: it has taken the log up to `through`, which is where a delivery ended
   * unless it is far behind.
   */
  onAdvance: (through: number, ends: readonly BatchEnd[]) => void = () => {}
  /** Whether anybody waits for every step that it takes. */
  isWatched: () => boolean = () => false
  readonly #space: Space
  readonly #recovery: Recovery
  /** Ends a rest. */
  #wake: () => void = () => {}
  #load = performance.eventLoopUtilization()
  #projection: Projection | undefined
  #isRunning = false
  #isOver = false
  #failure: unknown
  #waiting: { readonly seq: number; resolve(): void; reject(reason: unknown): void }[] = []

  constructor(space: Space) {
    this.#space = space
    this.#recovery = new Recovery(space.clock, (err, retryMs) => this.#failed(err, retryMs))
  }

  /** Last seq that it has taken. */
  get seq(): number {
    return this.#projection?.seq ?? 0
  }

  /** There may be something new. */
  poke(): void {
    if (this.#isUrgent) this.#wake()
    if (this.#isRunning) return
    this.#isRunning = true
    this.#recovery.begin(() => this.#catchUp())
  }

  /** Resolves when it has taken this seq; rejects with the reason where it cannot at present. */
  reach(seq: number): Promise<void> {
    if (seq <= this.seq) return Promise.resolve()
    if (this.#isOver) return Promise.reject(closedError('projection'))
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    const reached = new Promise<void>((resolve, reject) => this.#waiting.push({ seq, resolve, reject }))
    this.poke()
    return reached
  }

  turns: Projection['turns'] = async (query) => (await this.#upToDate()).turns(query)
  steps: Projection['steps'] = async (query) => (await this.#upToDate()).steps(query)
  ends: Projection['ends'] = async (range) => (await this.#upToDate()).ends(range)
  trail: Projection['trail'] = async (query) => (await this.#upToDate()).trail(query)
  stepsOf: Projection['stepsOf'] = async (turn, range) => (await this.#upToDate()).stepsOf(turn, range)
  older: Projection['older'] = async (before) => (await this.#upToDate()).older(before)
  keep: Projection['keep'] = async (through) => (await this.#upToDate()).keep(through)
  prune: Projection['prune'] = async (before) => (await this.#upToDate()).prune(before)

  /** The operator has changed the rules of the space. */
  async reconfigure(): Promise<void> {
    const { config, logger } = this.#space
    try {
      await this.#projection?.configure(config.safety)
    } catch (err) {
      logger.error({ space: config.name, err }, 'turns and steps still go by the safety rules from before')
    }
  }

  /** Ends without going on: what it has taken is stored, and the next start takes the rest. */
  close(): void {
    this.#isOver = true
    this.#wake()
    this.#recovery.close()
    this.#release(closedError('projection'))
  }

  /** The projection, when it has taken all that was delivered. */
  async #upToDate(): Promise<Projection> {
    await this.reach(this.#space.delivered)
    return this.#open()
  }

  async #open(): Promise<Projection> {
    if (this.#isOver) throw closedError('projection')
    const { log, config, logger } = this.#space
    this.#projection ??= await log.project({
      safety: config.safety,
      repaired: (reason) => logger.warn({ space: config.name, reason }, 'turns and steps are made again'),
    })
    return this.#projection
  }

  async #catchUp(): Promise<void> {
    const space = this.#space
    const isNew = this.#projection === undefined
    const projection = await this.#open()
    if (isNew) this.onAdvance(projection.seq, [])
    this.#reached()
    while (projection.seq < space.delivered) {
      const through = Math.min(space.delivered, projection.seq + stride)
      const [start, before] = [performance.now(), space.delivered]
      const ends = await projection.advance(through)
      const workMs = performance.now() - start
      if (this.#isOver) return
      this.#recovered()
      // It has come further where it had to be made again first.
      this.onAdvance(Math.max(through, projection.seq), ends)
      this.#reached()
      await this.#rest(workMs, space.delivered > before)
      if (this.#isOver) return
    }
    this.#recovered()
    this.#isRunning = false
  }

  get #isUrgent(): boolean {
    return this.#waiting.length > 0 || this.isWatched()
  }

  /** Lets what is to be delivered go first. Nobody waits for this: who does ends it. */
  async #rest(workMs: number, isDelivering: boolean): Promise<void> {
    const load = performance.eventLoopUtilization(this.#load).utilization
    this.#load = performance.eventLoopUtilization()
    const behind = this.#space.delivered - this.seq
    if (this.#isUrgent || behind > mostBehind) return
    const isBusy = isDelivering && load > busy
    if (behind > 0 && !isBusy) return
    await new Promise<void>((resolve) => {
      const cancel = this.#space.clock.after(restMs(workMs, isBusy), resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
    this.#wake = () => {}
  }

  #reached(): void {
    const isReached = ({ seq }: { readonly seq: number }) => seq <= this.seq
    for (const each of this.#waiting) if (isReached(each)) each.resolve()
    this.#waiting = this.#waiting.filter((each) => !isReached(each))
  }

  #recovered(): void {
    if (this.#failure === undefined) return
    this.#failure = undefined
    this.#space.logger.info({ space: this.#space.config.name }, 'turns and steps are kept up again')
  }

  /** Told to the operator once, until it goes on. Whoever waits is told at once. */
  #failed(err: unknown, retryMs: number): void {
    if (this.#failure === undefined) {
      const { config, logger } = this.#space
      logger.error(
        { space: config.name, err, retryMs },
        'turns and steps cannot be kept up; this is tried again',
      )
    }
    this.#failure = err
    this.#release(err)
  }

  #release(reason: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(reason)
  }
}
