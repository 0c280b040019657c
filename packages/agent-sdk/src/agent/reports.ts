import { type EnvelopeOf, Kind, ProtocolError } from '@meup/protocol'
import type { Draft, Seat } from '../participant/seat.js'

type Request = EnvelopeOf<typeof Kind.mcpRequest>
type Trouble = (error: unknown, request: Request) => void

/** Milliseconds between two reports in the long run, and how many may be made at once. */
const [gap, burst] = [100, 20]

/**
 * What a seat reports of its progress to those who ask [MEUP-3.8]. However fast it is told, it does not use up the
 * rate that its answers need: of a request that reports too often, only the latest is sent.
 */
export class Reports {
  readonly #seat: Pick<Seat, 'send'>
  readonly #onTrouble: Trouble
  readonly #waiting = new Map<Request, Draft>()
  /** Requests of which nothing more is reported. */
  readonly #over = new WeakSet<Request>()
  /** Until when the reports already sent have used up their share. */
  #paidUntil = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(seat: Pick<Seat, 'send'>, onTrouble: Trouble) {
    this.#seat = seat
    this.#onTrouble = onTrouble
  }

  /** Reports to the asker alone; an asker that gave no progress token wants no reports. */
  report(request: Request, progress: object): void {
    const token = tokenOf(request)
    if (token === undefined || this.#over.has(request)) return
    const params = { ...progress, progressToken: token }
    this.#waiting.set(request, {
      kind: Kind.mcpRequest,
      to: [request.from],
      correlationId: request.id,
      ...(request.context !== undefined && { context: request.context }),
      payload: { jsonrpc: '2.0', method: 'notifications/progress', params },
    })
    this.#flush()
  }

  /** The request is about to be answered, or nobody waits for it any more. */
  end(request: Request): void {
    this.#over.add(request)
    this.#waiting.delete(request)
    if (this.#waiting.size === 0) clearTimeout(this.#timer)
  }

  #flush(): void {
    clearTimeout(this.#timer)
    for (const [request, draft] of this.#waiting) {
      const now = Date.now()
      const from = Math.max(now, this.#paidUntil)
      const tooSoon = from - now - (burst - 1) * gap
      if (tooSoon > 0) {
        this.#timer = setTimeout(() => this.#flush(), tooSoon)
        return
      }
      this.#paidUntil = from + gap
      this.#waiting.delete(request)
      this.#seat.send(draft).catch((error: unknown) => this.#heed(error, request))
    }
  }

  #heed(error: unknown, request: Request): void {
    if (error instanceof ProtocolError && error.retryable) return // The next report will do.
    this.#over.add(request) // One more would be refused, too.
    this.#onTrouble(error, request)
  }
}

function tokenOf({ payload }: Request): string | number | undefined {
  const { _meta } = (payload.params ?? {}) as { _meta?: { progressToken?: unknown } | null }
  const token = _meta?.progressToken
  return typeof token === 'string' || typeof token === 'number' ? token : undefined
}
