import { type AnyEnvelope, Kind, type ParticipantDetails, type WelcomePayload } from '@meup/protocol'
import { abortedError, awayError, type ConnectionError } from './errors.js'
import type { ClientHandler, WelcomeInfo } from './handler.js'
import { setLongTimeout } from './long-timeout.js'
import { onAbort } from './on-abort.js'
import type { CallOptions } from './types.js'

/** Default milliseconds to wait for a participant whose program is starting. */
const defaultWaitForMs = 120_000
/** Milliseconds within which the presence of a participant that has just connected reaches this client. */
const lagMs = 500
/** Milliseconds within which a participant that left may return, or the state of its program is reported. */
const returnMs = 2000
/**
 * If this client lost its connection too: milliseconds after its reconnect in which participants may return, and milliseconds
 * before the loss from which they may have left.
 */
const [regroupMs, justBeforeMs] = [30_000, 5000]

type Find = (id: string) => ParticipantDetails | undefined

interface Watch {
  readonly id: string
  /** Called after each change of the participant's presence, and after reconnecting. */
  check(): void
  /** Called when the client is closed. */
  end(reason: Error): void
}

/**
 * Decides whether the addressee of a call is reachable. A call to an absent participant fails within half a second, and an open
 * call soon after the addressee has left. Waits longer if the participant may connect: its program is starting or running, or
 * this client lost its connection at the same time.
 */
export class Attendance implements ClientHandler {
  readonly #find: Find
  readonly #watches = new Set<Watch>()
  /** Absent participants, with the time in ms since 1970 at which this client noticed. */
  readonly #leftAt = new Map<string, number>()
  readonly #here = new Set<string>()
  /** Time of the last connection loss; `undefined` = the connection was never lost. */
  #lostAt: number | undefined
  #restoredAt: number | undefined
  #isClosed = false

  /** `find`: looks up the presence of a participant. */
  constructor(find: Find) {
    this.#find = find
  }

  /**
   * Resolves with the waited ms when a call may be sent: 0 if its addressee is present or unknown. Rejects with
   * `participant_away` if the addressee does not connect soon; if its program is starting, after `waitForMs` or `timeoutMs`,
   * whichever is shorter.
   */
  async whenHere(
    to: readonly string[] = [],
    {
      signal,
      timeoutMs,
      waitForMs = defaultWaitForMs,
    }: Pick<CallOptions, 'signal' | 'timeoutMs' | 'waitForMs'> = {},
  ): Promise<number> {
    const [id] = to
    if (id === undefined || to.length > 1 || this.isHere(id)) return 0
    const begunAt = Date.now()
    let isRead = false
    const maxAt = begunAt + Math.min(waitForMs, timeoutMs ?? Number.POSITIVE_INFINITY)
    await new Promise<void>((resolve, reject) => {
      let cancel = (): void => {}
      const end = (settle: () => void): void => {
        cancel()
        endListening()
        this.#watches.delete(watch)
        settle()
      }
      const aborted = (): void => end(() => reject(abortedError(signal)))
      const check = (): void => {
        cancel()
        const leftMs = Math.min(this.#expectedUntil(id, begunAt), maxAt) - Date.now()
        if (this.isHere(id)) end(resolve)
        else if (leftMs > 0) cancel = setLongTimeout(leftMs, check)
        else if (isRead) end(() => reject(this.#createError(id, false)))
        else {
          // Handles frames first that arrived while this process was busy: they may report presence.
          isRead = true
          cancel = setLongTimeout(0, check)
        }
      }
      const watch: Watch = { id, check, end: (reason) => end(() => reject(reason)) }
      this.#watches.add(watch)
      const endListening = onAbort(signal, aborted)
      if (signal?.aborted) aborted()
      else check()
    })
    const waitedMs = Date.now() - begunAt
    return waitedMs > lagMs ? waitedMs : 0
  }

  /**
   * Calls `onGone` when the addressee of a call has left and has not returned in time. Returns a function that stops watching.
   */
  watch(to: readonly string[], onGone: (error: ConnectionError) => void): () => void {
    const [id] = to
    if (id === undefined || to.length > 1) return () => {}
    let cancel = (): void => {}
    /** Since when the addressee is absent, or its program was restarted and lost the call; in ms since 1970. */
    let goneAt: number | undefined
    let isRestarted = false
    const end = (): void => {
      cancel()
      this.#watches.delete(watch)
    }
    const check = (): void => {
      cancel()
      if (this.#isDown) return
      const { status, program }: Partial<ParticipantDetails> = this.#find(id) ?? {}
      const isAway = status !== 'present'
      if (isAway && program && program.state !== 'running') isRestarted = true
      if (!isAway && !isRestarted) {
        goneAt = undefined
        return
      }
      goneAt ??= Date.now()
      const leftMs = Math.max(goneAt + returnMs, this.#regroupedAt(id)) - Date.now()
      if (leftMs > 0) cancel = setLongTimeout(leftMs, check)
      else {
        end()
        onGone(this.#createError(id, true))
      }
    }
    const watch: Watch = { id, check, end }
    this.#watches.add(watch)
    check()
    return end
  }

  onEnvelope(envelope: AnyEnvelope): void {
    if (envelope.kind !== Kind.systemPresence) return
    const { id } = envelope.payload.participant
    if (this.#find(id)?.status === 'present') this.#onHere(id)
    else this.#onAway(id)
    for (const watch of [...this.#watches]) if (watch.id === id) watch.check()
  }

  onWelcome({ participants }: WelcomePayload, _: unknown, { isFirst }: WelcomeInfo): void {
    if (isFirst && this.#isDown) this.#restoredAt = Date.now()
    const here = new Set(participants.flatMap(({ id, status }) => (status === 'present' ? [id] : [])))
    for (const id of [...this.#here]) if (!here.has(id)) this.#onAway(id)
    for (const id of here) this.#onHere(id)
    for (const watch of [...this.#watches]) watch.check()
  }

  /** Called when the connection was lost, and when a reconnect attempt failed. */
  onReconnecting(): void {
    if (!this.#isDown) this.#lostAt = Date.now()
    this.#restoredAt = undefined
  }

  onClose(reason: Error): void {
    this.#isClosed = true
    for (const { end } of [...this.#watches]) end(reason)
  }

  get #isDown(): boolean {
    return this.#lostAt !== undefined && this.#restoredAt === undefined
  }

  #onHere(id: string): void {
    this.#here.add(id)
    this.#leftAt.delete(id)
  }

  #onAway(id: string): void {
    if (this.#here.delete(id)) this.#leftAt.set(id, Date.now())
  }

  /**
   * Whether a call can be sent without waiting. True for unknown addressees, which the gateway refuses; without a connection,
   * presence is unknown, so true as well.
   */
  isHere(id: string): boolean {
    return this.#isClosed || this.#isDown || this.#find(id)?.status !== 'away'
  }

  /** Time until which an absent participant may return, in ms since 1970. */
  #expectedUntil(id: string, begunAt: number): number {
    const state = this.#find(id)?.program?.state
    if (state === 'starting' || state === 'restarting') return Number.POSITIVE_INFINITY
    return Math.max(begunAt + (state === 'running' ? returnMs : lagMs), this.#regroupedAt(id))
  }

  /**
   * Time until which a participant that lost its connection together with this client may return, in ms since 1970; 0 = it did
   * not.
   */
  #regroupedAt(id: string): number {
    const leftAt = this.#leftAt.get(id)
    if (leftAt === undefined || this.#lostAt === undefined || this.#restoredAt === undefined) return 0
    return leftAt < this.#lostAt - justBeforeMs || leftAt > this.#restoredAt
      ? 0
      : this.#restoredAt + regroupMs
  }

  #createError(id: string, isSent: boolean): ConnectionError {
    return awayError(id, isSent, this.#find(id)?.program?.state)
  }
}
