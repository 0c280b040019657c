import { closeCodes } from '@meup/protocol'
import type { FrameForm, Receipt } from '../core/admission/admission-context.js'
import type { Session } from '../core/delivery/session.js'
import { isRefusal, type Refusal } from '../core/refusal.js'
import { accept } from '../core/space.js'
import type { SpaceHost } from './space-host.js'

/** The functions of an open connection that its transport calls. */
export interface ConnectionHandle {
  /** `isBinary`: binary frames are refused [MEUP-1.1]. */
  receive(frame: Uint8Array, isBinary?: boolean): void
  /** Call when a ping or a pong has arrived. */
  receiveControl(): void
  /** Call after a few frames, and stop reading until it resolves. `undefined` = continue. */
  whenWritable(): Promise<void> | undefined
  /** `isBye`: the client has announced that its program ends [MEUP-2.14]. */
  closed(isBye?: boolean): void
}

/**
 * A connection is closed when its sender was in debt of the rate `frames` for `maxFloodMs` without `calmMs` free of debt
 * [MEUP-7.1].
 */
const [maxFloodMs, calmMs] = [30_000, 1000]
/** Longest pause of reading, however large the debt. */
const maxHoldMs = 3_600_000

/** `holds`: envelopes over their rate wait [MEUP-7.9]. `left` is called after the connection has closed. */
export function openConnection(
  session: Session,
  { space, presence }: SpaceHost,
  { holds, left }: { readonly holds: boolean; left(): void },
): ConnectionHandle {
  const { rateLimitKey } = session
  const { rates, clock } = space
  /**
   * Whether this connection was charged for frames since the last check of the debt. If not, the debt of its rateLimitKey
   * pauses the connection, but does not close it.
   */
  let isCharged = false
  /** When the debt in frames began, and until when a new debt continues it. */
  let [floodedSince, floodedUntil] = [0, 0]
  let cancelHold = (): void => {}

  const chargeFrame = (): void => {
    isCharged = true
    rates.charge(rateLimitKey, 'frames', 1, clock.now())
  }
  /** Charges refusals and retries to the rate `frames`, because they add nothing to the log. */
  const onOutcome = (outcome: Receipt | Refusal): void => {
    if (isRefusal(outcome) || outcome.answered) chargeFrame()
  }
  const isFlooding = (now: number, waitMs: number): boolean => {
    if (!isCharged || rates.wait(rateLimitKey, 'frames', now) === 0) return false
    if (now > floodedUntil) floodedSince = now
    floodedUntil = now + waitMs + calmMs
    return now - floodedSince >= maxFloodMs
  }

  const failed = (err: unknown): void => space.logger.error({ err }, 'a frame could not be forwarded')
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      cancelHold = clock.after(Math.min(ms, maxHoldMs), resolve)
    })

  /** Frames that wait behind an earlier one, whose envelope is over its rate. */
  const queue: { readonly frame: Uint8Array; readonly isBinary: boolean }[] = []
  let deciding: Promise<void> | undefined
  const decideOn = async (frame: Uint8Array, form: FrameForm): Promise<void> => {
    // The connection is gone, so the sender would not learn the outcome.
    if (session.isGone()) return
    const outcome = await accept(space, session, frame, form)
    const dueInMs = isRefusal(outcome) ? undefined : outcome.dueInMs
    if (dueInMs === undefined) return onOutcome(outcome)
    space.metrics.heldReads++
    await wait(dueInMs)
    await decideOn(frame, { ...form, overRate: 'paid' })
  }
  const decideInOrder = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { frame, isBinary } = next
      await decideOn(frame, { isBinary, overRate: 'wait' }).catch(failed)
    }
    deciding = undefined
  }

  const whenWritable = (): Promise<void> | undefined => {
    if (session.closed) return undefined
    if (deciding !== undefined) return deciding.then(whenWritable)
    const now = clock.now()
    const waitMs = rates.waitToRead(rateLimitKey, now)
    if (waitMs > 0 && isFlooding(now, waitMs)) {
      session.close(closeCodes.tooMany, 'too many refused or repeated envelopes for 30 seconds')
      return undefined
    }
    isCharged = false
    const untilLogged = space.whenWritable()
    if (untilLogged === undefined && waitMs === 0) return undefined
    space.metrics.heldReads++
    return untilLogged ?? wait(waitMs)
  }

  return {
    receive(frame, isBinary = false) {
      if (session.closed) return
      // Bytes are charged on the gateway that has the socket, even if another one sequences the space: only this gateway can
      // pause reading.
      const isLarge = frame.length > space.config.limits.maxEnvelopeBytes
      rates.charge(rateLimitKey, isLarge ? 'results' : 'bytes', frame.length, clock.now())
      if (holds) {
        queue.push({ frame, isBinary })
        deciding ??= decideInOrder()
      } else if (space.isFollower) accept(space, session, frame, { isBinary }).then(onOutcome).catch(failed)
      else onOutcome(space.submit(session, frame, { isBinary }))
    },
    receiveControl() {
      if (!session.closed) chargeFrame()
    },
    whenWritable,
    closed(isBye = false) {
      session.isBye = isBye && !session.closed
      left()
      cancelHold()
      session.closed = true
      presence.exit(session)
    },
  }
}
