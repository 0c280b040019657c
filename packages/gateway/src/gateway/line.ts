import { closeCodes } from '@meup/protocol'
import { accept } from '../cluster/accept.js'
import { isRefusal, type Receipt, type Refusal } from '../pipeline/passage.js'
import type { Session } from '../space/session.js'
import type { Room } from './room.js'

/** An open connection, as its adapter sees it. */
export interface Line {
  /** A frame is text, unless the adapter says that it is binary; then it is refused [MEUP-1.1]. */
  receive(frame: Uint8Array, isBinary?: boolean): void
  /** A ping or a pong has come. */
  receiveControl(): void
  /** Asked after a few frames: read no more of it until this resolves. `undefined` = read on. */
  relief(): Promise<void> | undefined
  closed(): void
}

/** For so long frames may be owed, with no second between in which none were, before their sender is closed [MEUP-7.1]. */
const [maxFloodMs, calmMs] = [30_000, 1000]
/** However much is owed, a portion is read in so many milliseconds. */
const maxHoldMs = 3_600_000

/** `left` is called once it is closed. */
export function openLine(session: Session, { space, presence }: Room, left: () => void): Line {
  const { payer } = session
  const { rates, clock } = space
  /** Whether frames were charged since the last relief. Others with the same payer are held back, but not closed. */
  let isCharged = false
  /** When frames were owed first, and until when owing them again still counts as flooding. */
  let [floodedSince, floodedUntil] = [0, 0]
  let cancelHold = (): void => {}

  const chargeFrame = (): void => {
    isCharged = true
    rates.charge(payer, 'frames', 1, clock.now())
  }
  /** Whatever adds nothing to the log costs a frame: what is refused, and what was sent before. */
  const onOutcome = (outcome: Receipt | Refusal): void => {
    if (isRefusal(outcome) || outcome.answered) chargeFrame()
  }
  const isFlooding = (now: number, waitMs: number): boolean => {
    if (!isCharged || rates.wait(payer, 'frames', now) === 0) return false
    if (now > floodedUntil) floodedSince = now
    floodedUntil = now + waitMs + calmMs
    return now - floodedSince >= maxFloodMs
  }

  return {
    receive(frame, isBinary) {
      if (session.closed) return
      // Paid where the socket is, whichever gateway sequences the space: it is this socket that is not read.
      const isLarge = frame.length > space.config.limits.maxEnvelopeBytes
      rates.charge(payer, isLarge ? 'results' : 'bytes', frame.length, clock.now())
      if (space.follows) void accept(space, session, frame, isBinary).then(onOutcome)
      else onOutcome(space.submit(session, frame, isBinary))
    },
    receiveControl() {
      if (!session.closed) chargeFrame()
    },
    relief() {
      if (session.closed) return undefined
      const now = clock.now()
      const waitMs = rates.waitToRead(payer, now)
      if (waitMs > 0 && isFlooding(now, waitMs)) {
        session.close(closeCodes.tooMany, 'too much that is refused or repeated, for 30 seconds')
        return undefined
      }
      isCharged = false
      const relief = space.relief()
      if (relief === undefined && waitMs === 0) return undefined
      space.tally.heldReads++
      if (relief !== undefined) return relief
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
