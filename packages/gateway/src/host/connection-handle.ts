import { closeCodes } from '@meup/protocol'
import { isRefusal, type Receipt, type Refusal } from '../core/admission/context.js'
import type { Session } from '../core/delivery/session.js'
import { accept } from '../core/space.js'
import type { SpaceHost } from './space-host.js'

/** An open connection, as its adapter sees it. */
export interface ConnectionHandle {
  /** A frame is text, unless the adapter says that it is binary; then it is refused [MEUP-1.1]. */
  receive(frame: Uint8Array, isBinary?: boolean): void
  /** A ping or a pong has come. */
  receiveControl(): void
  /** Asked after a few frames: read no more of it until this resolves. `undefined` = read on. */
  whenWritable(): Promise<void> | undefined
  closed(): void
}

/** For so long frames may be owed, with no second between in which none were, before their sender is closed [MEUP-7.1]. */
const [maxFloodMs, calmMs] = [30_000, 1000]
/** However much is owed, a portion is read in so many milliseconds. */
const maxHoldMs = 3_600_000

/** `left` is called once it is closed. */
export function openConnection(
  session: Session,
  { space, presence }: SpaceHost,
  left: () => void,
): ConnectionHandle {
  const { rateLimitKey } = session
  const { rates, clock } = space
  /** Whether frames were charged since the last whenWritable. Others with the same rateLimitKey are held back, but not closed. */
  let isCharged = false
  /** When frames were owed first, and until when owing them again still counts as flooding. */
  let [floodedSince, floodedUntil] = [0, 0]
  let cancelHold = (): void => {}

  const chargeFrame = (): void => {
    isCharged = true
    rates.charge(rateLimitKey, 'frames', 1, clock.now())
  }
  /** Whatever adds nothing to the log costs a frame: what is refused, and what was sent before. */
  const onOutcome = (outcome: Receipt | Refusal): void => {
    if (isRefusal(outcome) || outcome.answered) chargeFrame()
  }
  const isFlooding = (now: number, waitMs: number): boolean => {
    if (!isCharged || rates.wait(rateLimitKey, 'frames', now) === 0) return false
    if (now > floodedUntil) floodedSince = now
    floodedUntil = now + waitMs + calmMs
    return now - floodedSince >= maxFloodMs
  }

  return {
    receive(frame, isBinary) {
      if (session.closed) return
      // Paid where the socket is, whichever gateway sequences the space: it is this socket that is not read.
      const isLarge = frame.length > space.config.limits.maxEnvelopeBytes
      rates.charge(rateLimitKey, isLarge ? 'results' : 'bytes', frame.length, clock.now())
      if (space.isFollower) void accept(space, session, frame, isBinary).then(onOutcome)
      else onOutcome(space.submit(session, frame, isBinary))
    },
    receiveControl() {
      if (!session.closed) chargeFrame()
    },
    whenWritable() {
      if (session.closed) return undefined
      const now = clock.now()
      const waitMs = rates.waitToRead(rateLimitKey, now)
      if (waitMs > 0 && isFlooding(now, waitMs)) {
        session.close(closeCodes.tooMany, 'too much that is refused or repeated, for 30 seconds')
        return undefined
      }
      isCharged = false
      const whenWritable = space.whenWritable()
      if (whenWritable === undefined && waitMs === 0) return undefined
      space.metrics.heldReads++
      if (whenWritable !== undefined) return whenWritable
      return new Promise((resolve) => {
        cancelHold = clock.after(Math.min(waitMs, maxHoldMs), resolve)
      })
    },
    closed() {
      left()
      cancelHold()
      session.closed = true
      presence.exit(session)
    },
  }
}
