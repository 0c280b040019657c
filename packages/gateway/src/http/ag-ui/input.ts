import { isDeeper, maxNesting, ParticipantId } from '@meup/protocol'
import { type Denial, deny, isDenial } from '../../host/connection-gate.js'

/** What one decides about a proposal that a run before stopped at. */
export interface Answer {
  readonly proposal: string
  readonly isApproved: boolean
  readonly reason?: string
}

/** What of a `RunAgentInput` a space can use. */
export interface RunInput {
  readonly threadId: string
  readonly runId: string
  /** The last message of the user. */
  readonly question: { readonly id: string; readonly text: string }
  /** Ids of the messages and the calls that the client has. */
  readonly known: ReadonlySet<string>
  readonly answers: readonly Answer[]
  readonly wishes: Wishes
}

/** What `forwardedProps` may say to the gateway. */
interface Wishes {
  readonly agent?: string
  readonly timeoutSeconds: number
  readonly cancelOnDisconnect: boolean
}

type Json = Readonly<Record<string, unknown>>

const longestId = 1000
/** Twice as deep as an envelope: what it has beside messages may be anything. */
const deepest = 2 * maxNesting
const patience = { usual: 300, most: 3600 }
/** Entries of `resume`: as many proposals as a welcome tells of. */
export const maxAnswers = 64
const isParticipant = new RegExp(ParticipantId.pattern ?? '')

/** Reads the body of a request for a run. Fields that a space has no use for may be there, and are left alone. */
export function readRunInput(body: Uint8Array): RunInput | Denial {
  if (isDeeper(body, deepest))
    return deny('invalid_json', 400, `the body is nested more than ${deepest} levels deep`)
  const input = parse(body)
  if (input === undefined)
    return deny('invalid_json', 400, 'the body must be a RunAgentInput: one JSON object')
  const { threadId, runId, messages } = input
  if (!isId(threadId)) return unfit(`threadId must be a text of 1 to ${longestId} characters`)
  if (!isId(runId)) return unfit(`runId must be a text of 1 to ${longestId} characters`)
  if (!Array.isArray(messages)) return unfit('messages must be an array')
  const question = questionIn(messages)
  if (isDenial(question)) return question
  const answers = readAnswers(input.resume ?? [])
  if (isDenial(answers)) return answers
  const wishes = readWishes(input.forwardedProps ?? {})
  if (isDenial(wishes)) return wishes
  return { threadId, runId, question, known: new Set(messages.flatMap(idsOf)), answers, wishes }
}

const unfit = (message: string): Denial => deny('invalid_request', 400, message)

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
  isText(value) && value.length > 0 && value.length <= longestId

function questionIn(messages: readonly unknown[]): RunInput['question'] | Denial {
  const message = messages.filter(isObject).findLast(({ role }) => role === 'user')
  if (message === undefined)
    return unfit('messages must have one of the role user: it is what the agent is asked')
  const { id, content } = message
  if (!isId(id)) return unfit(`the id of a message must be a text of 1 to ${longestId} characters`)
  const text = textOf(content)
  if (text === undefined) return unfit('the content of a message must be text; a space takes no other parts')
  return text.trim() === '' ? unfit('the last message of the user is empty') : { id, text }
}

/** `undefined` = it has parts that are no text. */
function textOf(content: unknown): string | undefined {
  if (isText(content)) return content
  if (!Array.isArray(content)) return undefined
  const texts = content.map((part) => (isObject(part) && part.type === 'text' ? part.text : undefined))
  return texts.every(isText) ? texts.join('') : undefined
}

function idsOf(message: unknown): string[] {
  if (!isObject(message)) return []
  const calls = Array.isArray(message.toolCalls) ? message.toolCalls.filter(isObject) : []
  return [message.id, ...calls.map(({ id }) => id)].filter(isText)
}

function readAnswers(resume: unknown): Answer[] | Denial {
  if (!Array.isArray(resume)) return unfit('resume must be an array')
  if (resume.length > maxAnswers) return unfit(`resume may have ${maxAnswers} entries; send the rest later`)
  const answers = new Map<string, Answer>()
  for (const entry of resume) {
    const answer = readAnswer(entry)
    if (isDenial(answer)) return answer
    const { proposal } = answer
    if (answers.has(proposal)) return unfit('resume must have one entry for each interruptId')
    answers.set(proposal, answer)
  }
  return [...answers.values()]
}

function readAnswer(entry: unknown): Answer | Denial {
  if (!isObject(entry) || !isId(entry.interruptId))
    return unfit('an entry of resume must have an interruptId')
  const { interruptId: proposal, status, payload } = entry
  if (status === 'cancelled') return { proposal, isApproved: false, reason: 'cancelled' }
  if (status !== 'resolved') return unfit('the status of an entry of resume must be resolved or cancelled')
  if (!isObject(payload) || typeof payload.approved !== 'boolean') {
    return unfit('the payload of an entry of resume must be {"approved": true} or {"approved": false}')
  }
  const { approved: isApproved, reason } = payload
  return { proposal, isApproved, ...(isText(reason) && { reason }) }
}

function readWishes(props: unknown): Wishes | Denial {
  if (!isObject(props)) return unfit('forwardedProps must be an object')
  const { agent, timeoutSeconds = patience.usual, cancelOnDisconnect = false } = props
  if (agent !== undefined && !(isText(agent) && isParticipant.test(agent))) {
    return unfit('forwardedProps.agent must be a participant id')
  }
  if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds > 0 && timeoutSeconds <= patience.most)) {
    return unfit(`forwardedProps.timeoutSeconds must be a number up to ${patience.most}`)
  }
  if (typeof cancelOnDisconnect !== 'boolean') {
    return unfit('forwardedProps.cancelOnDisconnect must be true or false')
  }
  return { ...(agent !== undefined && { agent }), timeoutSeconds, cancelOnDisconnect }
}
