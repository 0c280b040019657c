import { cut, isObject } from '@meup/folds'

/** Entries of a plan that are shown, and characters of one. */
const [maxPlanEntries, maxEntryChars] = [100, 1000]
/** Characters of a value in an error. */
const maxShownChars = 200

export interface FileDiff {
  readonly path: string
  readonly oldText: string
  readonly newText: string
  /** There is no file any more. */
  readonly deleted?: true
}

export interface Location {
  readonly path: string
  readonly line?: number
}

export type CallStatus = 'pending' | 'in_progress' | 'completed' | 'failed'

/** The fields of a call that a message sets. A field that is missing or cannot be read is absent. */
export interface CallFields {
  readonly id: string
  readonly name?: string
  readonly title?: string
  readonly kind?: string
  readonly status?: CallStatus
  readonly rawInput?: unknown
  readonly rawOutput?: unknown
  readonly locations?: readonly Location[]
  readonly texts?: readonly string[]
  readonly diffs?: readonly FileDiff[]
  readonly meta: Readonly<Record<string, unknown>>
}

export interface PlanEntry {
  readonly content: string
  readonly status: string
}

/** A session update, as far as it matters to a space. */
export type AgentUpdate =
  | { readonly type: 'text' | 'thought'; readonly text: string; readonly messageId?: string }
  | { readonly type: 'plan'; readonly entries: readonly PlanEntry[] }
  | { readonly type: 'call'; readonly fields: CallFields }
  | { readonly type: 'mode'; readonly mode: string }
  /** Agents are newer than any list of what they may say. */
  | { readonly type: 'other' }

export interface Option {
  readonly id: string
  readonly kind: string
  readonly name: string
}

export interface PermissionRequest {
  readonly sessionId: string
  readonly call: CallFields
  readonly options: readonly Option[]
}

/** A message lacks what it is about. Names the field, and what stands there. */
class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
  constructor(path: string, value: unknown) {
    super(`${path} is ${show(value)}`)
  }
}

/** Reads `params` of `session/update`. Throws an `UnreadableError` if they do not say what they are about. */
export function readUpdate(params: unknown): { readonly sessionId: string; readonly update: AgentUpdate } {
  if (!isObject(params)) throw new UnreadableError('params', params)
  const { sessionId, update } = params
  if (typeof sessionId !== 'string') throw new UnreadableError('params.sessionId', sessionId)
  if (!isObject(update)) throw new UnreadableError('params.update', update)
  if (typeof update.sessionUpdate !== 'string')
    throw new UnreadableError('params.update.sessionUpdate', update.sessionUpdate)
  return { sessionId, update: readKind(update.sessionUpdate, update) }
}

/** Reads `params` of `session/request_permission`, in the same way. */
export function readPermission(params: unknown): PermissionRequest {
  if (!isObject(params)) throw new UnreadableError('params', params)
  const { sessionId, toolCall, options } = params
  if (!isObject(toolCall)) throw new UnreadableError('params.toolCall', toolCall)
  return {
    sessionId: typeof sessionId === 'string' ? sessionId : '',
    call: readCall(toolCall, 'params.toolCall'),
    options: toArray(options).flatMap((each) => {
      if (!isObject(each) || typeof each.optionId !== 'string') return []
      const { optionId, kind, name } = each
      return { id: optionId, kind: toText(kind) ?? '', name: toText(name) ?? optionId }
    }),
  }
}

function readKind(kind: string, update: Readonly<Record<string, unknown>>): AgentUpdate {
  switch (kind) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk': {
      const text = readText(update.content)
      if (text === undefined) throw new UnreadableError('params.update.content', update.content)
      const messageId = toText(update.messageId)
      const type = kind === 'agent_message_chunk' ? 'text' : 'thought'
      return { type, text, ...(messageId !== undefined && { messageId }) }
    }
    case 'plan':
      if (!Array.isArray(update.entries)) throw new UnreadableError('params.update.entries', update.entries)
      return { type: 'plan', entries: update.entries.slice(0, maxPlanEntries).flatMap(readEntry) }
    case 'tool_call':
    case 'tool_call_update':
      return { type: 'call', fields: readCall(update, 'params.update') }
    case 'current_mode_update': {
      const mode = toText(update.currentModeId)
      return mode === undefined ? { type: 'other' } : { type: 'mode', mode }
    }
    default:
      return { type: 'other' }
  }
}

function readCall(fields: Readonly<Record<string, unknown>>, path: string): CallFields {
  const { toolCallId, name, title, kind, status, rawInput, rawOutput, locations, content, _meta } = fields
  const id = typeof toolCallId === 'number' ? String(toolCallId) : toolCallId
  if (typeof id !== 'string') throw new UnreadableError(`${path}.toolCallId`, toolCallId)
  const optional = {
    name: toText(name),
    title: toText(title),
    kind: toText(kind),
    status: isStatus(status) ? status : undefined,
    rawInput: rawInput ?? undefined,
    rawOutput: rawOutput ?? undefined,
    locations: locations == null ? undefined : toArray(locations).flatMap(readLocation),
    texts: content == null ? undefined : toArray(content).flatMap(readContentText),
    diffs: content == null ? undefined : toArray(content).flatMap(readDiff),
  }
  const present = Object.entries(optional).filter(([, value]) => value !== undefined)
  return { id, meta: isObject(_meta) ? _meta : {}, ...Object.fromEntries(present) }
}

const statuses = ['pending', 'in_progress', 'completed', 'failed']
const isStatus = (value: unknown): value is CallStatus => statuses.includes(value as string)

/** The text of a block, of several, or a text itself; `''` for a picture and the like. */
function readText(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) {
    const texts = content.map(readText).filter((each) => each !== undefined)
    return texts.length > 0 ? texts.join('') : undefined
  }
  if (!isObject(content)) return undefined
  if (typeof content.text === 'string') return content.text
  return typeof content.type === 'string' && content.type !== 'text' ? '' : undefined
}

function readContentText(each: unknown): string[] {
  if (isObject(each) && (each.type === 'diff' || each.type === 'terminal')) return []
  const text = readText(isObject(each) && each.content !== undefined ? each.content : each)
  return text ? [text] : []
}

function readDiff(each: unknown): FileDiff[] {
  if (!isObject(each) || each.type !== 'diff' || typeof each.path !== 'string') return []
  const { path, oldText, newText } = each
  const diff = { path, oldText: toText(oldText) ?? '', newText: toText(newText) ?? '' }
  return [newText == null ? { ...diff, deleted: true } : diff]
}

function readLocation(each: unknown): Location[] {
  if (!isObject(each) || typeof each.path !== 'string') return []
  const { path, line } = each
  return [{ path, ...(typeof line === 'number' && { line }) }]
}

function readEntry(each: unknown): PlanEntry[] {
  const { content, status } = isObject(each) ? each : { content: each, status: undefined }
  if (typeof content !== 'string') return []
  return [{ content: cut(content, maxEntryChars), status: toText(status) ?? 'pending' }]
}

const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** One thing stands for a list of it. */
const toArray = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value == null ? [] : [value]

const show = (value: unknown): string =>
  value === undefined ? 'absent' : cut(JSON.stringify(value) ?? String(value), maxShownChars)
