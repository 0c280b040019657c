import { closeCodes } from '@meup/protocol'
import { type FrameForm, isRefusal, type Receipt, type Refusal } from '../core/admission/context.js'
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
  /** `isBye`: its client has said that its program ends [MEUP-2.14]. */
  closed(isBye?: boolean): void
}

/** For so long frames may be owed, with no second between in which none were, before their sender is closed [MEUP-7.1]. */
const [maxFloodMs, calmMs] = [30_000, 1000]
/** However much is owed, a portion is read in so many milliseconds. */
const maxHoldMs = 3_600_000

/** `holds`: what comes over its rate waits [MEUP-7.9]. `left` is called once it is closed. */
export function openConnection(
  session: Session,
  { space, presence }: SpaceHost,
  { holds, left }: { readonly holds: boolean; left(): void },
): ConnectionHandle {
  const { rateLimitKey } = session
  const { rates, clock } = space
  /** Whether frames were charged since it was last asked whether to read on. Others with the same rateLimitKey are held back, but not closed. */
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

  const failed = (err: unknown): void => space.logger.error({ err }, 'a frame could not be forwarded')
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      cancelHold = clock.after(Math.min(ms, maxHoldMs), resolve)
    })

  /** What is decided on one after another, as what comes first may have to wait. */
  const queue: { readonly frame: Uint8Array; readonly isBinary: boolean }[] = []
  let deciding: Promise<void> | undefined
  const decideOn = async (frame: Uint8Array, form: FrameForm): Promise<void> => {
    // Nobody would learn what became of it.
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
      session.close(closeCodes.tooMany, 'too much that is refused or repeated, for 30 seconds')
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
      // Paid where the socket is, whichever gateway sequences the space: it is this socket that is not read.
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
