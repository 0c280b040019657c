import { type Capability, closeCodes, GUEST, Kind, namespaceOf } from '@meup/protocol'
import type { Delivery } from '../core/delivery/broadcast.js'
import type { Session } from '../core/delivery/session.js'
import type { Presence } from '../core/presence.js'
import type { Space, SpaceListener } from '../core/space.js'
import type { SpaceState } from '../core/state/state.js'
import { kickMessage, type Trust } from '../core/state/trust/trust.js'
import type { Entry } from '../ports/envelope-log.js'

/** Expiry is checked at least hourly, because the system clock may be adjusted while a timer runs. */
const maxWaitMs = 60 * 60 * 1000

/** Delay before announcements that failed, or exceeded one batch, continue. */
const announceAgainMs = 1000

const notWelcome = 'This access was taken away or has ended. Ask for a new token.'

/**
 * Applies committed changes of rights to open sessions: updates what they may read, sends a new welcome, announces the change,
 * and closes kicked participants [MEUP-3.14, 4.16]. Nothing happens before the reason is in the log.
 */
export class Enforcement implements SpaceListener {
  readonly #space: Space
  readonly #presence: Presence
  /** Sends another welcome, with the changed rights, and returns its number of bytes. */
  readonly #welcome: (session: Session) => number
  /** The trust, and its revision, from which the rights of the sessions were last updated. */
  #done: { readonly trust: Trust; readonly revision: number } | undefined
  /** Sessions with changed rights, between the commit and the delivery of a batch. */
  #renewed: Session[] | undefined
  /** Kicks and replacements up to this seq were applied. */
  #dismissed = 0
  #holds = 0
  /** The next expiry to announce, as last computed. */
  #awaited = Number.POSITIVE_INFINITY
  #isOver = false
  #cancel = (): void => {}

  constructor(space: Space, presence: Presence, welcome: (session: Session) => number) {
    this.#space = space
    this.#presence = presence
    this.#welcome = welcome
  }

  /** Applies the present rights to all sessions. */
  renew(): void {
    this.#done = undefined
    this.#onTime()
  }

  /** Postpones all updates of sessions until `release`, for a caller that makes several changes at once. */
  hold(): void {
    this.#holds++
  }

  release(): void {
    this.#holds--
    this.#onTime()
  }

  /** Closes sessions whose access was revoked or has expired. */
  closeRevoked(): void {
    for (const session of [...this.#space.sessions]) {
      this.check(session)
      if (session.closed) this.#presence.exit(session)
    }
  }

  /** Closes a session that would no longer be admitted: 4403 if kicked, 4412 if replaced, otherwise 4401. */
  check(session: Session): void {
    const { state, delivered } = this.#space
    const kick = state.trust.kicks.get(session.participant)
    if (kick !== undefined && kick.at <= delivered) {
      session.close(closeCodes.forbidden, kickMessage(kick))
    } else if (isReplaced(session, state) && state.programs.replacedAt <= delivered) {
      session.close(closeCodes.replaced, `another program has joined as ${session.participant}`)
    } else if (!session.isWelcome()) {
      session.close(closeCodes.unauthorized, notWelcome)
    }
  }

  close(): void {
    this.#isOver = true
    this.#cancel()
  }

  #onTime(): void {
    this.#space.advance()
    this.committed()
    this.delivered()
    this.#presence.announceEnds()
    this.#wait(announceAgainMs)
  }

  /**
   * Updates the rights of sessions, so that they apply to this batch. Welcomes and announcements follow once it is delivered.
   */
  committed(): void {
    const { state, delivered, sessions } = this.#space
    const { trust, participants } = state
    const { revision } = trust
    const isDone = this.#done?.trust === trust && this.#done.revision === revision
    if (this.#holds > 0 || isDone || trust.changedAt > delivered) return
    this.#done = { trust, revision }
    this.#renewed = []
    for (const session of sessions) {
      const { participant } = session
      // The log may not say yet that a guest of a following gateway is present.
      const isUnknown = participant.startsWith(GUEST) && !participants.has(participant)
      const capabilities = isUnknown
        ? (this.#space.config.guest?.capabilities ?? [])
        : participants.capabilities(participant)
      if (isSame(capabilities, session.capabilities)) continue
      session.updateRights({ capabilities, ...participants.readRights(participant) })
      this.#renewed.push(session)
    }
  }

  delivered(batch: readonly Delivery[] = []): void {
    this.#dismiss()
    for (const { entry } of batch) if (changesContexts(entry)) this.#presence.openWork.onContext(entry)
    if (this.#space.nextEnd < this.#awaited) this.#wait()
    const renewed = this.#renewed
    if (renewed === undefined) return
    this.#renewed = undefined
    this.closeRevoked()
    const bytes = renewed.reduce((sum, session) => sum + this.#welcome(session), 0)
    this.#charge(bytes, batch)
    for (const id of this.#space.state.trust.untold()) this.#presence.announce(id)
    this.#wait()
  }

  /**
   * A welcome describes the whole space and goes to each connection, so its bytes are charged: to the senders of the envelopes
   * that changed the rights [MEUP-4.16].
   */
  #charge(bytes: number, batch: readonly Delivery[]): void {
    const { clock, rates, sessions } = this.#space
    const changes = batch.filter(({ entry }) => changing.has(namespaceOf(entry.kind)))
    const payers = new Set(changes.map(({ entry }) => findRateLimitKey(entry.from, sessions)))
    for (const rateLimitKey of payers) rates.charge(rateLimitKey, 'bytes', bytes / payers.size, clock.now())
  }

  /**
   * Closes sessions of kicked and replaced participants as soon as the kick or replacement is committed, even if later changes
   * of rights are not committed yet.
   */
  #dismiss(): void {
    const { state, delivered } = this.#space
    const latest = Math.min(Math.max(state.trust.kicks.latest, state.programs.replacedAt), delivered)
    if (latest <= this.#dismissed) return
    this.#dismissed = latest
    this.closeRevoked()
  }

  /** Schedules the next expiry and its announcement; announcements that are already due follow after `announceMs`. */
  #wait(announceMs = 1): void {
    const { clock, state, nextEnd } = this.#space
    const { soonest } = state.trust
    const now = clock.now()
    this.#cancel()
    this.#awaited = nextEnd
    if (this.#isOver || !Number.isFinite(Math.min(soonest, nextEnd))) return
    const ms = Math.min(Math.max(soonest - now, 1), Math.max(nextEnd - now, announceMs), maxWaitMs)
    this.#cancel = clock.after(ms, () => this.#onTime())
  }
}

const changesContexts = ({ kind }: Entry): boolean =>
  kind === Kind.reasoningStart || kind === Kind.reasoningCancel

const isReplaced = ({ participant, session }: Session, { programs }: SpaceState): boolean =>
  session !== undefined && programs.isReplaced(participant, session)

const changing: ReadonlySet<string> = new Set(['capability', 'space'])

function findRateLimitKey(participant: string, sessions: Iterable<Session>): string {
  for (const session of sessions) if (session.participant === participant) return session.rateLimitKey
  return participant
}

const isSame = (a: readonly Capability[], b: readonly Capability[]): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b)
