import { createHmac } from 'node:crypto'
import type { Entry } from '@meup/gateway'
import { type Caller, isRefusal, mayRead, type Refusal, refuse } from '@meup/gateway/routes'
import { type Envelope, getMember, isDeeper, Kind, maxNesting, ParticipantId } from '@meup/protocol'

/** A decision about a proposal that an earlier run stopped at. */
interface Answer {
  readonly proposal: string
  readonly isApproved: boolean
  readonly reason?: string
}

/** The parts of a `RunAgentInput` that a space uses. */
export interface RunInput {
  readonly threadId: string
  readonly runId: string
  /** The last message of the user. */
  readonly question: { readonly id: string; readonly text: string }
  /** Messages and calls that the client has: their texts, by id. */
  readonly known: ReadonlyMap<string, string>
  readonly answers: readonly Answer[]
  readonly settings: RunSettings
}

/** The `forwardedProps` that the gateway reads. */
interface RunSettings {
  readonly agent?: string
  readonly timeoutSeconds: number
  readonly cancelOnDisconnect: boolean
}

type Json = Readonly<Record<string, unknown>>

const maxIdChars = 1000
/** Twice as deep as an envelope: the state and the tools of a client may nest deeper than messages. */
const maxDepth = 2 * maxNesting
export const [defaultTimeoutSeconds, maxTimeoutSeconds] = [300, 3600]
/** Entries of `resume`: as many as the proposals of a welcome. */
export const maxAnswers = 64
const isParticipant = new RegExp(ParticipantId.pattern ?? '')

/** Reads the body of a request for a run. Fields that a space does not use are ignored. */
export function readRunInput(body: Uint8Array): RunInput | Refusal {
  if (isDeeper(body, maxDepth))
    return refuse('invalid_json', `The body is nested more than ${maxDepth} levels deep. Nest it less.`)
  const input = parse(body)
  if (input === undefined)
    return refuse('invalid_json', 'The body is not a RunAgentInput. Send one JSON object.')
  const { threadId, runId, messages } = input
  if (!isId(threadId)) return refuseInput(`threadId must be a text of 1 to ${maxIdChars} characters.`)
  if (!isId(runId)) return refuseInput(`runId must be a text of 1 to ${maxIdChars} characters.`)
  if (!Array.isArray(messages)) return refuseInput('messages must be an array.')
  const question = readQuestion(messages)
  if (isRefusal(question)) return question
  const answers = readAnswers(input.resume ?? [])
  if (isRefusal(answers)) return answers
  const settings = readSettings(input.forwardedProps ?? {})
  if (isRefusal(settings)) return settings
  return { threadId, runId, question, known: new Map(messages.flatMap(collectTexts)), answers, settings }
}

const refuseInput = (message: string): Refusal => refuse('invalid_request', message)

function parse(body: Uint8Array): Json | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === 'string'

const isId = (value: unknown): value is string =>
  isText(value) && value.length > 0 && value.length <= maxIdChars

function readQuestion(messages: readonly unknown[]): RunInput['question'] | Refusal {
  const message = messages.filter(isObject).findLast(({ role }) => role === 'user')
  if (message === undefined)
    return refuseInput('messages has none of the role user. Add the one that the agent is asked.')
  const { id, content } = message
  if (!isId(id)) return refuseInput(`The id of a message must be a text of 1 to ${maxIdChars} characters.`)
  const text = joinText(content)
  if (text === undefined) return refuseInput('The content of a message must be text. Leave other parts out.')
  return text.trim() === ''
    ? refuseInput('The last message of the user is empty. Send a text.')
    : { id, text }
}

/** `undefined` = it has parts that are no text. */
function joinText(content: unknown): string | undefined {
  if (isText(content)) return content
  if (!Array.isArray(content)) return undefined
  const texts = content.map((part) => (isObject(part) && part.type === 'text' ? part.text : undefined))
  return texts.every(isText) ? texts.join('') : undefined
}

/** The text of a message by its id, and its calls, which have none. */
function collectTexts(message: unknown): (readonly [id: string, text: string])[] {
  if (!isObject(message)) return []
  const calls = Array.isArray(message.toolCalls) ? message.toolCalls.filter(isObject) : []
  const text = isText(message.content) ? message.content : ''
  return [{ id: message.id, text }, ...calls.map(({ id }) => ({ id, text: '' }))].flatMap(
    (each): (readonly [string, string])[] => (isText(each.id) ? [[each.id, each.text]] : []),
  )
}

function readAnswers(resume: unknown): Answer[] | Refusal {
  if (!Array.isArray(resume)) return refuseInput('resume must be an array.')
  if (resume.length > maxAnswers)
    return refuseInput(`resume may have ${maxAnswers} entries. Send the rest later.`)
  const answers = new Map<string, Answer>()
  for (const entry of resume) {
    const answer = readAnswer(entry)
    if (isRefusal(answer)) return answer
    const { proposal } = answer
    if (answers.has(proposal)) return refuseInput('resume must have one entry for each interruptId.')
    answers.set(proposal, answer)
  }
  return [...answers.values()]
}

function readAnswer(entry: unknown): Answer | Refusal {
  if (!isObject(entry) || !isId(entry.interruptId))
    return refuseInput('An entry of resume must have an interruptId.')
  const { interruptId: proposal, status, payload } = entry
  if (status === 'cancelled') return { proposal, isApproved: false, reason: 'cancelled' }
  if (status !== 'resolved')
    return refuseInput('The status of an entry of resume must be resolved or cancelled.')
  if (!isObject(payload) || typeof payload.approved !== 'boolean') {
    return refuseInput('The payload of an entry of resume must be {"approved": true} or {"approved": false}.')
  }
  const { approved: isApproved, reason } = payload
  return { proposal, isApproved, ...(isText(reason) && { reason }) }
}

function readSettings(props: unknown): RunSettings | Refusal {
  if (!isObject(props)) return refuseInput('forwardedProps must be an object.')
  const { agent, timeoutSeconds = defaultTimeoutSeconds, cancelOnDisconnect = false } = props
  if (agent !== undefined && !(isText(agent) && isParticipant.test(agent))) {
    return refuseInput('forwardedProps.agent must be a participant id.')
  }
  if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds > 0 && timeoutSeconds <= maxTimeoutSeconds)) {
    return refuseInput(`forwardedProps.timeoutSeconds must be a number up to ${maxTimeoutSeconds}.`)
  }
  if (typeof cancelOnDisconnect !== 'boolean') {
    return refuseInput('forwardedProps.cancelOnDisconnect must be true or false.')
  }
  return { ...(agent !== undefined && { agent }), timeoutSeconds, cancelOnDisconnect }
}

/** An envelope that is yet to be submitted, and its id. */
interface Frame {
  readonly id: string
  readonly bytes: Uint8Array
}

/** Returns the same id for the same parts. */
type MakeId = (...parts: readonly string[]) => string

/**
 * Ids that repeat when a participant repeats a request. They depend on its token, which no log has, so that nobody else can use
 * them first.
 */
export const createIdMaker =
  (token: string): MakeId =>
  (...parts) =>
    `ag-ui-${createHmac('sha256', token).update(JSON.stringify(parts)).digest('base64url')}`

/** The same message of the same thread becomes the same chat, so that a repeated request finds it. */
export function encodeQuestion(
  makeId: MakeId,
  { threadId, question: { id, text } }: Pick<RunInput, 'threadId' | 'question'>,
  agent: string,
  asker: string,
): Frame {
  return frame(makeId('ask', asker, agent, threadId, id), {
    kind: Kind.chat,
    to: [agent],
    payload: { message: text },
  })
}

export const encodeCancellation = (makeId: MakeId, questionId: string, agent: string): Frame =>
  frame(makeId('cancel', questionId), {
    kind: Kind.chatCancel,
    to: [agent],
    correlationId: questionId,
    payload: { reason: 'the client went away' },
  })

/**
 * Frames for decisions about proposals, and the seq of the latest proposal. Settled proposals are skipped. Each frame is made on
 * demand, since all of them together may be large.
 */
export function encodeDecisions(
  makeId: MakeId,
  answers: readonly Answer[],
  { space, participant }: Pick<Caller, 'space' | 'participant'>,
): { readonly frames: Iterable<Frame>; readonly latest: number } | Refusal {
  let latest = 0
  for (const { proposal: id } of answers) {
    const entry = space.log.find(id)
    const isReadable = entry && mayRead(space.getReader({ participant }), space.decideAudience(entry))
    if (entry?.kind !== Kind.mcpProposal || !isReadable) {
      const message = `resume answers ${id.slice(0, 100)}, which is not a proposal of this space. Check the interruptId.`
      return refuse('proposal_not_found', message)
    }
    latest = Math.max(latest, entry.seq)
  }
  return { frames: encodeFrames(makeId, answers, { space, participant }), latest }
}

function* encodeFrames(
  makeId: MakeId,
  answers: readonly Answer[],
  { space, participant }: Pick<Caller, 'space' | 'participant'>,
): Generator<Frame> {
  for (const answer of answers) {
    const { proposal: id, isApproved } = answer
    if (space.state.proposals.find(id, space.clock.now()) === undefined) continue
    const entry = space.log.find(id)
    if (entry === undefined) continue
    const decisionId = makeId(isApproved ? 'approve' : 'reject', participant, id)
    yield isApproved ? approval(decisionId, entry) : rejection(decisionId, entry, answer)
  }
}

/** The request that was proposed, to the letter [MEUP-4.17]; why, only its proposer has said [MEUP-13.11]. */
function approval(id: string, { id: proposal, body }: Entry): Frame {
  const { to, context, payload } = JSON.parse(Buffer.from(body).toString()) as Envelope
  const params = getMember(getMember(body, 'payload') ?? new Uint8Array(), 'params')
  const asked = JSON.stringify({ jsonrpc: '2.0', id, method: payload.method })
  const request = params === undefined ? asked : `${asked.slice(0, -1)},"params":${Buffer.from(params)}}`
  const head = JSON.stringify({ id, kind: Kind.mcpRequest, to, correlationId: proposal, context })
  return { id, bytes: Buffer.from(`${head.slice(0, -1)},"payload":${request}}`) }
}

const rejection = (id: string, { id: proposal, from }: Entry, { reason = 'not approved' }: Answer): Frame =>
  frame(id, {
    kind: Kind.mcpReject,
    to: [from],
    correlationId: proposal,
    payload: { reason },
  })

const frame = (id: string, fields: object): Frame => ({
  id,
  bytes: Buffer.from(JSON.stringify({ id, ...fields })),
})
