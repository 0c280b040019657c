import { cut, getAsked, getMessage, isHandOver, onOneLine } from '@meup/folds'
import {
  type AnyEnvelope,
  correlations,
  type EnvelopeOf,
  freshId,
  Kind,
  namespaceOf,
  ProtocolError,
} from '@meup/protocol'
import type { Answer, BaseClient } from '../client/base-client.js'
import { awayError, ConnectionError } from '../client/errors.js'
import type { Draft } from '../client/types.js'
import type { WaitOptions } from '../client/wait.js'
import type { Reasoning } from './reasoning.js'

type Chat = EnvelopeOf<typeof Kind.chat>

/** A turn that delegates to other agents. */
export interface Delegator {
  readonly space: BaseClient
  readonly trigger: Chat
  readonly signal: AbortSignal
  /** The run that reports the delegated work; absent: it is not reported. */
  readonly run: Reasoning | undefined
}

/** Default milliseconds to wait for another agent's answer. */
const askMs = 300_000
/** Milliseconds to wait for an absent agent to connect, and for one whose program is starting. */
const [awayMs, startingMs] = [2000, 120_000]
/**
 * Maximum thoughts reported from another agent, and maximum characters of a thought, of an answer, and of a handed-over
 * question.
 */
const [maxThoughts, maxThoughtChars, maxAnswerChars, maxQuestionChars] = [50, 300, 2000, 200_000]

/**
 * Asks another agent about the trigger of a turn. The run of the turn reports that agent's thoughts, answer and cost. Rejects
 * with `participant_away`, `timeout` (default 300,000 ms), or the gateway's refusal.
 */
export async function askAgent(
  { space, trigger, signal: ended, run }: Delegator,
  agent: string,
  text: string,
  { timeoutMs = askMs, signal = ended }: WaitOptions = {},
): Promise<Answer> {
  const either = AbortSignal.any([ended, signal])
  await whenHere(space, agent, either)
  const id = freshId()
  const place = trigger.to === undefined ? { mention: agent } : { to: [agent] }
  const report = new Report(id, agent, run, trigger.to !== undefined)
  const onEnvelope = (envelope: AnyEnvelope): void => report.onEnvelope(envelope)
  space.on('envelope', onEnvelope)
  try {
    const about = { id, correlationId: trigger.id, ...place }
    const answer = await space.ask(text, { ...about, timeoutMs, signal: either })
    await report.end(answer)
    return answer
  } catch (error) {
    // Cancels the question, which may be in the log unless the gateway has refused it.
    if (!(error instanceof ProtocolError))
      await takeBack(space, { correlationId: id, ...(trigger.to && { to: [agent] }) })
    throw error
  } finally {
    space.off('envelope', onEnvelope)
  }
}

async function whenHere(space: BaseClient, agent: string, signal: AbortSignal): Promise<void> {
  const known = space.participants.find(({ id }) => id === agent)
  if (known === undefined || known.status === 'present') return
  const isComing = known.program !== undefined && known.program.state !== 'running'
  try {
    await space.whenPresent([agent], { timeoutMs: isComing ? startingMs : awayMs, signal })
  } catch (error) {
    if (!(error instanceof ConnectionError) || error.code !== 'timeout') throw error
    throw awayError(agent, false)
  }
}

/** Cancels a question whose answer is no longer needed. */
async function takeBack(space: BaseClient, about: Pick<Draft, 'to' | 'correlationId'>): Promise<void> {
  if (space.ended !== undefined) return
  const cancel = {
    ...about,
    kind: Kind.chatCancel,
    payload: { reason: 'no one waits for the answer any more' },
  }
  try {
    await space.sendPaced(cancel)
  } catch (error) {
    if (space.ended === undefined) console.error('a question could not be taken back:', error)
  }
}

/** Reports another agent's work on a question in the run of the asking agent. */
class Report {
  readonly #question: string
  readonly #agent: string
  readonly #run: Reasoning | undefined
  readonly #isPrivate: boolean
  #context: string | undefined
  #thoughts = 0
  #cost: object = {}
  #sent: Promise<unknown> = Promise.resolve()

  constructor(question: string, agent: string, run: Reasoning | undefined, isPrivate: boolean) {
    this.#question = question
    this.#agent = agent
    this.#run = run
    this.#isPrivate = isPrivate
  }

  onEnvelope(envelope: AnyEnvelope): void {
    const { id, kind, from, to, context, payload } = envelope
    const said = getMessage({ ...payload })
    if (id === this.#question)
      this.#think(`Asked ${this.#agent}: ${cut(onOneLine(said), maxThoughtChars)}`, id)
    if (from !== this.#agent) return
    const isAbout = correlations(envelope).includes(this.#question)
    if (kind === Kind.reasoningStart && context === undefined && isAbout) this.#context = id
    else if (context === undefined || context !== this.#context) return
    // The run of the asking agent is public, so it must not report private thoughts of the other agent.
    if (to !== undefined && !this.#isPrivate) return
    if (kind === Kind.reasoningConclusion) this.#cost = Object(payload.metadata)
    const isThought = namespaceOf(kind) === 'reasoning' && kind !== Kind.reasoningCancel && said.trim() !== ''
    if (!isThought || this.#thoughts++ >= maxThoughts) return
    this.#think(`${this.#agent}: ${cut(said, maxThoughtChars)}`, id)
  }

  /** Resolves once all reports are in the run. */
  async end({ id, text }: Answer): Promise<void> {
    this.#think(`${this.#agent} answered: ${cut(text, maxAnswerChars)}`, id, this.#cost)
    await this.#sent
  }

  /** Adds a thought to the run. Ignores a closed run, so that the answer does not fail. */
  #think(message: string, reference: string, metadata?: object): void {
    const run = this.#run
    if (run === undefined || run.isClosed) return
    const options = { references: [reference], ...(metadata && { metadata }) }
    this.#sent = this.#sent
      .then(() => run.thought(message, options))
      .catch((error: unknown) => {
        if (!run.isClosed && !run.signal.aborted) console.error('a thought could not be sent:', error)
      })
  }
}

/**
 * Creates the chat that hands the trigger of a turn to another agent [MEUP-3.30]. The chat and its answer have the audience of
 * the question; the answer correlates with the original question.
 */
export function createHandOver(trigger: Chat, self: string, agent: string, note = ''): Draft {
  const { from, to, payload } = trigger
  const question = isHandOver(trigger)
    ? payload.message
    : `${from} asked: ${cut(payload.message, maxQuestionChars)}`
  const readers = new Set([agent, from, ...(to ?? [])])
  readers.delete(self)
  return {
    kind: Kind.chat,
    correlationId: questionsOf(trigger),
    ...(to && { to: [...readers] }),
    payload: {
      message: note.trim() === '' ? question : `${note.trim()}\n\n${question}`,
      mentions: [agent],
      handOver: true,
    },
  }
}

/** The ids that an answer to a chat correlates with: the chat, and the original question if the chat hands one over. */
export const questionsOf = (chat: Chat): string[] =>
  isHandOver(chat) ? [chat.id, ...correlations(chat).slice(-1)] : [chat.id]

/**
 * The recipients of an answer to a chat; absent = everyone. A private question is answered to its asker, and to those of its
 * recipients that were not asked.
 */
export function audienceOf(chat: Chat, self: string): Pick<Draft, 'to'> {
  const { from, to } = chat
  if (to === undefined) return {}
  const asked = getAsked(chat)
  return { to: [from, ...to.filter((id) => id !== self && id !== from && !asked.includes(id))] }
}

export interface ReviewOptions extends WaitOptions {
  /** Id of the reviewing agent. */
  readonly by: string
  /** Maximum rounds; default 2. */
  readonly rounds?: number
}

/** A draft, or a function that writes one; `remarks`: the reviewer's remarks on the previous draft. */
export type Draftable = string | ((remarks: string | undefined) => string | Promise<string>)

export interface Review {
  /** The last draft, approved or not. */
  readonly text: string
  readonly isApproved: boolean
  /** The reviewer's remarks on the last draft; absent = approved. */
  readonly remarks?: string
}

const request =
  'Review this. Begin your answer with "approved" if it may go out as it is; otherwise say what has to be changed.'
const approval = /^[\s*_#>"'`]*(?:approved?|lgtm)\b(?!\s+(?:if|once|when|after|unless|provided)\b)/i

/** Has another agent review a draft, and a function revise it until it is approved. */
export async function reviewDraft(
  delegator: Delegator,
  draft: Draftable,
  { by, rounds = 2, ...waiting }: ReviewOptions,
): Promise<Review> {
  let remarks: string | undefined
  for (let round = 1; ; round++) {
    const text = typeof draft === 'string' ? draft : await draft(remarks)
    const { text: said, noAnswer } = await askAgent(delegator, by, `${request}\n\n${text}`, waiting)
    if (noAnswer === undefined && approval.test(said)) return { text, isApproved: true }
    remarks = said
    if (round >= rounds || noAnswer !== undefined || typeof draft === 'string')
      return { text, isApproved: false, remarks }
  }
}
