import { correlations, type Envelope, GATEWAY, Kind, type PresencePayload } from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { getEnding } from '../ending.js'

/** An answer in progress, from its deltas so far. */
export interface LiveAnswer {
  readonly from: string
  /** Id of the envelope that the agent answers. */
  readonly trigger: string
  readonly to?: readonly string[]
  readonly text: string
  /**
   * Number of restarts of the answer. After a restart, text that was shown before is no longer part of it, unless the new text
   * begins the same.
   */
  readonly beginning: number
}

interface Draft extends LiveAnswer {
  /** Expected index of the next delta; `undefined` = a delta was lost, so nothing is shown until the answer restarts. */
  readonly next: number | undefined
}

/** A run, with the envelopes that it is about. */
interface AskedRun {
  readonly owner: string
  readonly triggers: readonly string[]
}

/** Maximum number of remembered runs: in all, and per trigger. */
const [maxRuns, maxRunsPerCause] = [20_000, 100]

/** Finds the runs that work on a trigger [MEUP-2.10]. */
export class AskedRuns {
  readonly #runs = new Bounded<AskedRun>(maxRuns)
  /** Ids of runs by their owner and the envelope that they are about, oldest first. */
  readonly #byCause = new Bounded<readonly string[]>(maxRuns)

  apply(envelope: Envelope): void {
    const { kind, id, context } = envelope
    if (kind !== Kind.reasoningStart || context !== undefined) return
    this.#add(id, toRun(envelope))
  }

  get(run: string): AskedRun | undefined {
    return this.#runs.get(run)
  }

  /**
   * Finds the runs that an answer of `owner` to `cause` belongs to: its runs about `cause`, and `cause` itself if that is the
   * start of its run.
   */
  find(owner: string, cause: string): readonly string[] {
    const asked = this.#byCause.get(keyOf(owner, cause)) ?? []
    return this.#runs.get(cause)?.owner === owner ? [...asked, cause] : asked
  }

  snapshot(): AskedRunsSnapshot {
    return this.#runs.snapshot()
  }

  restore(snapshot: AskedRunsSnapshot): void {
    for (const [id, run] of snapshot) this.#add(id, run)
  }

  #add(id: string, run: AskedRun): void {
    this.#runs.set(id, run)
    for (const cause of run.triggers) {
      const key = keyOf(run.owner, cause)
      const runs = [...(this.#byCause.get(key) ?? []), id]
      this.#byCause.set(key, runs.slice(-maxRunsPerCause))
    }
  }
}

const toRun = (start: Envelope): AskedRun => ({ owner: start.from, triggers: correlations(start) })

export type AskedRunsSnapshot = readonly (readonly [run: string, asked: AskedRun])[]

/** Maximum number of ended answers, and of senders of messages, that are remembered. */
const [maxEnded, maxAskers] = [256, 1000]
/** Maximum characters that are kept of an answer in progress; the complete text is in the `chat`. */
const maxChars = 256 * 1024
/** Capacity for all answers in progress in characters (the oldest are dropped), and the base cost of each answer. */
const [maxAllChars, charsPerAnswer] = [4 * maxChars, 4096]

/** Answers in progress, from `chat.delta` [MEUP-3.25]. The final `chat` replaces them, so that lost deltas do not matter. */
export class LiveAnswers {
  readonly #drafts = new Bounded<Draft>(maxAllChars, ({ text }) => charsPerAnswer + text.length)
  /** Times at which answers ended, by sender and trigger: their later deltas are ignored. */
  readonly #ended = new Bounded<string>(maxEnded)
  /** Senders of messages, by the message's id: only they can take it back. */
  readonly #askers = new Bounded<string>(maxAskers)
  /**
   * Open runs by id, with their owners and triggers. The cancellation of a run also ends its answers, because no `chat` may
   * follow.
   */
  readonly #runs = new Bounded<AskedRun>(maxRuns)

  /** Lists the answers in progress in the order in which they began. */
  list(): LiveAnswer[] {
    return [...this.#drafts.values()].filter(({ text }) => text !== '')
  }

  /** Applies an envelope. Returns whether answers in progress have changed. */
  apply(envelope: Envelope): boolean {
    const { kind, from, to, ts, correlationId, context, payload } = envelope
    switch (kind) {
      case Kind.chatDelta: {
        if (typeof correlationId !== 'string') return false
        const { index, text } = payload as { readonly index: number; readonly text: string }
        return this.#write({ from, trigger: correlationId, ...(to && { to }), text }, index, ts)
      }
      case Kind.chat:
        if (context !== undefined) return false
        this.#askers.set(envelope.id, from)
        return this.#endAnswered(envelope)
      case Kind.chatCancel:
        return this.#takeBack(envelope)
      case Kind.reasoningStart:
        if (context === undefined) this.#runs.set(envelope.id, toRun(envelope))
        return false
      case Kind.reasoningConclusion:
      case Kind.reasoningCancel:
        return this.#endRun(envelope)
      case Kind.systemPresence:
        return from === GATEWAY && this.#leave(payload as PresencePayload)
      default:
        return false
    }
  }

  #write(said: Pick<LiveAnswer, 'from' | 'trigger' | 'to' | 'text'>, index: number, ts: string): boolean {
    const key = keyOf(said.from, said.trigger)
    if (ts <= (this.#ended.get(key) ?? '')) return false
    const draft = this.#drafts.get(key)
    if (index === 0) {
      this.#drafts.set(key, { ...said, beginning: (draft?.beginning ?? 0) + 1, next: 1 })
      return true
    }
    if (draft === undefined || draft.next === undefined) return false
    const isNext = index === draft.next && draft.text.length + said.text.length <= maxChars
    this.#drafts.set(
      key,
      isNext
        ? { ...draft, text: draft.text + said.text, next: index + 1 }
        : { ...draft, text: '', next: undefined },
    )
    return true
  }

  /** Ends the answers that a chat completes. A chat that asks others about the question does not complete it. */
  #endAnswered(chat: Envelope): boolean {
    const { from, to, ts, payload } = chat
    const answered = correlations(chat).filter((trigger) => {
      const draft = this.#drafts.get(keyOf(from, trigger))
      const isForOthers = draft?.to !== undefined && to?.some((id) => draft.to?.includes(id)) === false
      return isHandOver(chat) || (getMentions(payload).length === 0 && !isForOthers)
    })
    return this.#end({ owner: from, triggers: answered }, ts)
  }

  /** Drops the answers to a message that its sender takes back: no `chat` follows. */
  #takeBack(cancel: Envelope): boolean {
    const triggers = correlations(cancel).filter((id) => this.#askers.get(id) === cancel.from)
    const drafts = [...this.#drafts.values()].filter(({ trigger }) => triggers.includes(trigger))
    for (const { from, trigger } of drafts) this.#end({ owner: from, triggers: [trigger] }, cancel.ts)
    return drafts.length > 0
  }

  #end({ owner, triggers }: AskedRun, ts: string): boolean {
    const keys = triggers.map((trigger) => keyOf(owner, trigger))
    for (const key of keys) this.#ended.set(key, ts)
    return keys.map((key) => this.#drafts.delete(key)).includes(true)
  }

  /** Ends the answers of a run. A cancel by anyone but the owner and the gateway is only a request, and ends nothing. */
  #endRun(envelope: Envelope): boolean {
    const { context = '', from, ts } = envelope
    const run = this.#runs.get(context)
    if (run === undefined || (from !== run.owner && from !== GATEWAY)) return false
    this.#runs.delete(context)
    return getEnding(envelope)[0] !== 'completed' && this.#end(run, ts)
  }

  /** Drops the answers of a participant that leaves, because it will not finish them. */
  #leave({ event, participant }: PresencePayload): boolean {
    if (event !== 'leave') return false
    const left = this.#drafts.snapshot().filter(([, { from }]) => from === participant.id)
    for (const [key] of left) this.#drafts.delete(key)
    return left.length > 0
  }
}

const keyOf = (from: string, trigger: string): string => `${from} ${trigger}`

/**
 * Returns the rest of an answer after the shown text, ignoring surrounding white space; `undefined` = the answer does not begin
 * with the shown text.
 */
export function remainingAnswer(answer: string, shown: string): string | undefined {
  const [whole, begun] = [answer.trimStart(), shown.trimStart()]
  if (whole.startsWith(begun)) return whole.slice(begun.length)
  return whole.trimEnd() === begun.trimEnd() ? '' : undefined
}

type Chat = Pick<Envelope, 'from' | 'to' | 'context' | 'correlationId' | 'payload'>

/** The fields of a chat that determine its addressees. */
type Asking = { readonly [Field in Exclude<keyof Chat, 'from'>]?: Chat[Field] | undefined } & Pick<
  Chat,
  'payload'
>

/** Participants that a chat names in `to` or a mention; `undefined` = none. */
export function getNamed({ to, payload }: Pick<Asking, 'to' | 'payload'>): readonly string[] | undefined {
  const mentions = getMentions(payload)
  return to === undefined && mentions.length === 0 ? undefined : [...(to ?? []), ...mentions]
}

/**
 * Returns `true` if a chat asks this participant, regardless of whether it also answers. A chat that names no participant and
 * answers nothing asks the front desk or, if the space has none, everyone.
 */
export function asks(chat: Asking, id: string, frontDesk = id): boolean {
  if (chat.context !== undefined) return false
  return getNamed(chat)?.includes(id) ?? (chat.correlationId === undefined && id === frontDesk)
}

/**
 * Whether a chat that correlates with a chat of `asker` answers it [MEUP-3.30]. A chat that names only others asks them about
 * it, and a hand-over leaves the answer to them.
 */
export function isAnswerTo(asker: string, chat: Pick<Chat, 'to' | 'context' | 'payload'>): boolean {
  if (chat.context !== undefined || isHandOver(chat)) return false
  return getNamed(chat)?.includes(asker) ?? true
}

/** Whether a chat hands the question that it correlates with over to the participants that it names. */
export const isHandOver = ({ payload }: Pick<Chat, 'payload'>): boolean => payload.handOver === true

/** The participants that a chat asks: those mentioned, otherwise all in `to`. */
export const getAsked = ({ to = [], payload }: Pick<Asking, 'to' | 'payload'>): readonly string[] => {
  const mentions = getMentions(payload)
  return mentions.length > 0 ? mentions : to
}

const getMentions = ({ mentions }: Chat['payload']): readonly string[] =>
  Array.isArray(mentions) ? (mentions as string[]) : []

/** Maximum number of remembered chats of the participant itself. */
const maxOwn = 1000

/**
 * Distinguishes questions from answers [MEUP-13.18]: a chat asks the participants that it names; without names and correlation,
 * the front desk or, without one, everyone. An answer to one's own question asks nothing. A fold of one participant's readable
 * envelopes.
 */
export class Questions {
  readonly #own = new Bounded<Asking>(maxOwn)

  /** Applies the next envelope that the participant `id` may read. */
  apply({ kind, id: key, from, to, context, correlationId, payload }: Envelope, id: string): void {
    if (kind !== Kind.chat || from !== id) return
    this.#own.set(key, { to, context, correlationId, payload: { mentions: payload.mentions } })
  }

  /** Whether this chat asks the participant. `frontDesk`: that of the space; absent = none. */
  isAsked(chat: Chat, id: string, frontDesk?: string): boolean {
    // A chat that hands a question back is a question again, so it does not count as an answer.
    const answered = isHandOver(chat) ? [] : correlations(chat)
    const isAnswer = answered.some((own) => {
      const question = this.#own.get(own)
      return question !== undefined && asks(question, chat.from)
    })
    return !isAnswer && asks(chat, id, frontDesk)
  }
}

/** Parses a line that begins with `@name`: the addressee and the text. `undefined` = no known name. */
export function readAddressee(
  line: string,
  participants: readonly string[],
): { readonly to: string; readonly text: string } | undefined {
  const [, to, text] = /^@(\S+?)[,:]?\s+(.+)$/s.exec(line) ?? []
  return to !== undefined && text !== undefined && participants.includes(to) ? { to, text } : undefined
}
