import { correlations, type Envelope, GATEWAY, Kind, type PresencePayload } from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { getEnding } from '../ending.js'

/** An answer as it is written: what its deltas have told so far. */
export interface LiveAnswer {
  readonly from: string
  /** Id of the envelope that it answers. */
  readonly trigger: string
  readonly to?: readonly string[]
  readonly text: string
  /** How often it was begun: text that is shown and does not begin the new one was no part of the answer. */
  readonly beginning: number
}

interface Draft extends LiveAnswer {
  /** The index of the next delta; `undefined`: one was missed, so nothing is shown until the answer starts over. */
  readonly next: number | undefined
}

/** A run, and what it is about. */
interface AskedRun {
  readonly owner: string
  readonly triggers: readonly string[]
}

/** Runs that are remembered in all, and for one cause. */
const [maxRuns, maxRunsPerCause] = [20_000, 100]

/** Which runs answer what [MEUP-2.10]. */
export class AskedRuns {
  readonly #runs = new Bounded<AskedRun>(maxRuns)
  /** By owner and what they were asked by, oldest first. */
  readonly #byCause = new Bounded<readonly string[]>(maxRuns)

  apply(envelope: Envelope): void {
    const { kind, id, context } = envelope
    if (kind !== Kind.reasoningStart || context !== undefined) return
    this.#add(id, toRun(envelope))
  }

  get(run: string): AskedRun | undefined {
    return this.#runs.get(run)
  }

  /** The runs of a participant that an answer to this envelope answers: those about it, and the run that it began. */
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

/** Answers that have ended which are remembered. */
const maxEnded = 256
/** Characters of an answer that are kept; the rest is read in the `chat`. */
const maxChars = 256 * 1024
/** Characters of all that are written at the same time; past so many the oldest are forgotten. Each counts as so many more. */
const [maxAllChars, charsPerAnswer] = [4 * maxChars, 4096]

/**
 * Answers that are being written, from `chat.delta` [MEUP-3.25]. The `chat` that follows is the answer, and ends them; who
 * missed deltas misses nothing.
 */
export class LiveAnswers {
  readonly #drafts = new Bounded<Draft>(maxAllChars, ({ text }) => charsPerAnswer + text.length)
  /** When what was written to its end came, by sender and trigger: later deltas are ignored. */
  readonly #ended = new Bounded<string>(maxEnded)
  /** Open runs: one that is cancelled may end without a `chat`. */
  readonly #runs = new Bounded<AskedRun>(maxRuns)

  /** Those of which something is known, in the order in which they began. */
  list(): LiveAnswer[] {
    return [...this.#drafts.values()].filter(({ text }) => text !== '')
  }

  /** Whether the answers that are being written have changed. */
  apply(envelope: Envelope): boolean {
    const { kind, from, to, ts, correlationId, context, payload } = envelope
    switch (kind) {
      case Kind.chatDelta: {
        if (typeof correlationId !== 'string') return false
        const { index, text } = payload as { readonly index: number; readonly text: string }
        return this.#write({ from, trigger: correlationId, ...(to && { to }), text }, index, ts)
      }
      case Kind.chat:
        return context === undefined && this.#endAnswered(envelope)
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

  /** A chat that asks others about a question is no part of its answer. */
  #endAnswered(chat: Envelope): boolean {
    const { from, to, ts, payload } = chat
    const answered = correlations(chat).filter((trigger) => {
      const draft = this.#drafts.get(keyOf(from, trigger))
      const isForOthers = draft?.to !== undefined && to?.some((id) => draft.to?.includes(id)) === false
      return isHandOver(chat) || (getMentions(payload).length === 0 && !isForOthers)
    })
    return this.#end({ owner: from, triggers: answered }, ts)
  }

  #end({ owner, triggers }: AskedRun, ts: string): boolean {
    const keys = triggers.map((trigger) => keyOf(owner, trigger))
    for (const key of keys) this.#ended.set(key, ts)
    return keys.map((key) => this.#drafts.delete(key)).includes(true)
  }

  /** Others may ask for the end of a run: its owner and the gateway end it. */
  #endRun(envelope: Envelope): boolean {
    const { context = '', from, ts } = envelope
    const run = this.#runs.get(context)
    if (run === undefined || (from !== run.owner && from !== GATEWAY)) return false
    this.#runs.delete(context)
    return getEnding(envelope)[0] !== 'completed' && this.#end(run, ts)
  }

  /** A participant that leaves finishes no answer. */
  #leave({ event, participant }: PresencePayload): boolean {
    if (event !== 'leave') return false
    const left = this.#drafts.snapshot().filter(([, { from }]) => from === participant.id)
    for (const [key] of left) this.#drafts.delete(key)
    return left.length > 0
  }
}

const keyOf = (from: string, trigger: string): string => `${from} ${trigger}`

/** The rest of an answer after the text that was shown, white space around it aside; `undefined`: it does not begin with that text. */
export function remainingAnswer(answer: string, shown: string): string | undefined {
  const [whole, begun] = [answer.trimStart(), shown.trimStart()]
  if (whole.startsWith(begun)) return whole.slice(begun.length)
  return whole.trimEnd() === begun.trimEnd() ? '' : undefined
}

type Chat = Pick<Envelope, 'from' | 'to' | 'context' | 'correlationId' | 'payload'>

/** The fields of a chat that decide whom it asks. */
type Asking = { readonly [Field in Exclude<keyof Chat, 'from'>]?: Chat[Field] | undefined } & Pick<
  Chat,
  'payload'
>

/** Whom a chat names, by `to` or by a mention; `undefined` = nobody. */
export function getNamed({ to, payload }: Pick<Asking, 'to' | 'payload'>): readonly string[] | undefined {
  const mentions = getMentions(payload)
  return to === undefined && mentions.length === 0 ? undefined : [...(to ?? []), ...mentions]
}

/** Whether a chat asks this participant, whatever it may answer. What names nobody asks the front desk alone, where there is one. */
export function asks(chat: Asking, id: string, frontDesk = id): boolean {
  if (chat.context !== undefined) return false
  return getNamed(chat)?.includes(id) ?? (chat.correlationId === undefined && id === frontDesk)
}

/**
 * Whether a chat that correlates with one of `asker` answers it [MEUP-3.30]: one that names others asks them about it, and one that hands
 * it over leaves the answer to them.
 */
export function isAnswerTo(asker: string, chat: Pick<Chat, 'to' | 'context' | 'payload'>): boolean {
  if (chat.context !== undefined || isHandOver(chat)) return false
  return getNamed(chat)?.includes(asker) ?? true
}

/** Whether a chat hands what it correlates with over to those whom it names. */
export const isHandOver = ({ payload }: Pick<Chat, 'payload'>): boolean => payload.handOver === true

/** The participants that a chat asks: those it mentions, else all in its `to`. */
export const getAsked = ({ to = [], payload }: Pick<Asking, 'to' | 'payload'>): readonly string[] => {
  const mentions = getMentions(payload)
  return mentions.length > 0 ? mentions : to
}

const getMentions = ({ mentions }: Chat['payload']): readonly string[] =>
  Array.isArray(mentions) ? (mentions as string[]) : []

/** Own chats that are remembered. */
const maxOwn = 1000

/**
 * Tells questions from answers [MEUP-13.18]: a chat asks those whom it names; if it names nobody and answers nothing, the front
 * desk or, where there is none, everyone; but what answers a question of one's own asks nothing. A fold of what one participant reads.
 */
export class Questions {
  readonly #own = new Bounded<Asking>(maxOwn)

  /** `id`: the participant who reads. */
  apply({ kind, id: key, from, to, context, correlationId, payload }: Envelope, id: string): void {
    if (kind !== Kind.chat || from !== id) return
    this.#own.set(key, { to, context, correlationId, payload: { mentions: payload.mentions } })
  }

  /** Whether this chat asks the participant. `frontDesk`: of the space; absent = it has none. */
  isAsked(chat: Chat, id: string, frontDesk?: string): boolean {
    // A question that comes back is one again.
    const answered = isHandOver(chat) ? [] : correlations(chat)
    const isAnswer = answered.some((own) => {
      const question = this.#own.get(own)
      return question !== undefined && asks(question, chat.from)
    })
    return !isAnswer && asks(chat, id, frontDesk)
  }
}

/** A line that begins with `@name`: whom alone it is for, and what it says to them. `undefined` = it names nobody who is known. */
export function readAddressee(
  line: string,
  participants: readonly string[],
): { readonly to: string; readonly text: string } | undefined {
  const [, to, text] = /^@(\S+?)[,:]?\s+(.+)$/s.exec(line) ?? []
  return to !== undefined && text !== undefined && participants.includes(to) ? { to, text } : undefined
}
