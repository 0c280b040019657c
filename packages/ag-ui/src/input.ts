import { isObject } from '@meup/folds'
import { isRefusal, type Refusal } from '@meup/gateway/routes'
import { isDeeper, maxNesting, omitUndefined, ParticipantId } from '@meup/protocol'
import { createRefusal, invalidField } from './errors.js'

/** A decision about a proposal that interrupted an earlier run. */
export interface ResumedDecision {
  readonly proposal: string
  readonly isApproved: boolean
  readonly reason?: string
}

export interface UserMessage {
  readonly id: string
  readonly text: string
  /** Whether the message is the client's last one. */
  readonly isLast: boolean
}

/** The `RunAgentInput` fields that a space uses. */
export interface RunInput {
  readonly threadId: string
  readonly runId: string
  /** The user's last message; absent if the client sent none. */
  readonly question?: UserMessage
  /** Messages and tool calls that the client already has: texts by id. */
  readonly known: ReadonlyMap<string, string>
  readonly answers: readonly ResumedDecision[]
  readonly settings: RunSettings
}

/** The settings in `forwardedProps`. */
interface RunSettings {
  readonly agent?: string
  readonly timeoutSeconds: number
  readonly cancelOnDisconnect: boolean
}

type Json = Readonly<Record<string, unknown>>

const maxIdChars = 1000
/**
 * Twice the nesting limit of envelopes: the state and tools in a request, which are ignored, may be nested deeper than
 * messages.
 */
const maxDepth = 2 * maxNesting
export const [defaultTimeoutSeconds, maxTimeoutSeconds] = [300, 3600]
/** Maximum entries of `resume`: a welcome lists at most this many proposals, too. */
export const maxAnswers = 64
const isParticipant = new RegExp(ParticipantId.pattern ?? '')

/**
 * Reads the body of a run request. Ignores unused fields, and treats `null` as absent. A refusal contains the path of the wrong
 * field.
 */
export function readRunInput(body: Uint8Array): RunInput | Refusal {
  if (isDeeper(body, maxDepth)) return createRefusal('deep_body', { depth: maxDepth })
  const input = parse(body)
  if (input === undefined) return createRefusal('not_an_input', {})
  const { threadId, runId, messages } = input
  if (!isId(threadId)) return invalidField('/threadId', anId)
  if (!isId(runId)) return invalidField('/runId', anId)
  if (!Array.isArray(messages)) return invalidField('/messages', 'an array')
  const question = readQuestion(messages)
  if (question !== undefined && isRefusal(question)) return question
  const answers = readAnswers(input.resume ?? [])
  if (isRefusal(answers)) return answers
  if (question === undefined && answers.length > 0) return createRefusal('missing_question', {}, '/messages')
  const settings = readSettings(input.forwardedProps ?? {})
  if (isRefusal(settings)) return settings
  const known = new Map(messages.flatMap(collectTexts))
  return { threadId, runId, ...(question && { question }), known, answers, settings }
}

function parse(body: Uint8Array): Json | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isId = (value: unknown): value is string =>
  isText(value) && value.length > 0 && value.length <= maxIdChars

const anId = `a text of 1 to ${maxIdChars} characters`

function readQuestion(messages: readonly unknown[]): UserMessage | Refusal | undefined {
  const index = messages.findLastIndex((message) => isObject(message) && message.role === 'user')
  const message = messages[index]
  if (!isObject(message)) {
    const isConversation =
      messages.length === 0 || messages.some((each) => isObject(each) && isText(each.role))
    return isConversation ? undefined : invalidField('/messages', 'an array of messages with a role')
  }
  const path = `/messages/${index}`
  const { id, content } = message
  if (!isId(id)) return invalidField(`${path}/id`, anId)
  const parts = isText(content) ? [{ type: 'text', text: content }] : content
  if (!Array.isArray(parts)) return invalidField(`${path}/content`, onlyText)
  const texts = parts.map((part) => (isObject(part) && part.type === 'text' ? part.text : undefined))
  const strange = texts.findIndex((text) => !isText(text))
  if (strange !== -1) return invalidField(`${path}/content/${strange}`, onlyText)
  const text = texts.join('')
  if (text.trim() !== '') return { id, text, isLast: index === messages.length - 1 }
  return createRefusal('empty_question', {}, `${path}/content`)
}

const onlyText = 'text, without other parts'

/** The text of a message by its id, and empty texts by the ids of its tool calls. */
function collectTexts(message: unknown): (readonly [id: string, text: string])[] {
  if (!isObject(message)) return []
  const calls = Array.isArray(message.toolCalls) ? message.toolCalls.filter(isObject) : []
  const text = isText(message.content) ? message.content : ''
  return [{ id: message.id, text }, ...calls.map(({ id }) => ({ id, text: '' }))].flatMap(
    (each): (readonly [string, string])[] => (isText(each.id) ? [[each.id, each.text]] : []),
  )
}

function readAnswers(resume: unknown): ResumedDecision[] | Refusal {
  if (!Array.isArray(resume)) return invalidField('/resume', 'an array')
  if (resume.length > maxAnswers) return createRefusal('too_many_answers', { limit: maxAnswers }, '/resume')
  const answers = new Map<string, ResumedDecision>()
  for (const [index, entry] of resume.entries()) {
    const path = `/resume/${index}`
    const answer = readAnswer(entry, path)
    if (isRefusal(answer)) return answer
    const { proposal } = answer
    const idPath = `${path}/interruptId`
    if (answers.has(proposal)) return createRefusal('repeated_answer', { path: idPath }, idPath)
    answers.set(proposal, answer)
  }
  return [...answers.values()]
}

function readAnswer(entry: unknown, path: string): ResumedDecision | Refusal {
  if (!isObject(entry) || !isId(entry.interruptId)) return invalidField(`${path}/interruptId`, anId)
  const { interruptId: proposal, status, payload } = entry
  if (status === 'cancelled') return { proposal, isApproved: false, reason: 'cancelled' }
  if (status !== 'resolved') return invalidField(`${path}/status`, 'resolved or cancelled')
  if (!isObject(payload) || typeof payload.approved !== 'boolean')
    return invalidField(`${path}/payload`, '{"approved": true} or {"approved": false}')
  const { approved: isApproved } = payload
  const reason = payload.reason ?? ''
  if (!isText(reason)) return invalidField(`${path}/payload/reason`, 'text')
  return { proposal, isApproved, ...(reason.trim() !== '' && { reason }) }
}

function readSettings(props: unknown): RunSettings | Refusal {
  if (!isObject(props)) return invalidField('/forwardedProps', 'an object')
  const agent = props.agent ?? undefined
  const timeoutSeconds = props.timeoutSeconds ?? defaultTimeoutSeconds
  const cancelOnDisconnect = props.cancelOnDisconnect ?? false
  if (agent !== undefined && !(isText(agent) && isParticipant.test(agent)))
    return invalidField('/forwardedProps/agent', 'a participant id')
  if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds > 0 && timeoutSeconds <= maxTimeoutSeconds))
    return invalidField('/forwardedProps/timeoutSeconds', `a number up to ${maxTimeoutSeconds}`)
  if (typeof cancelOnDisconnect !== 'boolean')
    return invalidField('/forwardedProps/cancelOnDisconnect', 'true or false')
  return { ...omitUndefined({ agent }), timeoutSeconds, cancelOnDisconnect }
}
