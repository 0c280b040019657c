import { cut, isObject, onOneLine } from '@meup/folds'
import { omitUndefined } from '@meup/protocol'
import { type AcpBlock, readBlock, readPromptBlocks, toMarkdown } from './content-blocks.js'

/** Maximum kept entries of a plan, and characters of an entry. */
const [maxPlanEntries, maxEntryChars] = [100, 1000]
/** Maximum slash commands of an agent, and characters of a description. */
const [maxCommands, maxDescriptionChars] = [200, 100]
/** Maximum texts of a `_meta` that are searched for a session id, and maximum depth. */
const [maxMetaTexts, maxMetaDepth] = [50, 3]
/** Maximum characters of a value in an error. */
const maxShownChars = 200

export interface FileDiff {
  readonly path: string
  readonly oldText: string
  readonly newText: string
  /** The file was deleted. */
  readonly deleted?: true
}

export interface Location {
  readonly path: string
  readonly line?: number
}

export type CallStatus = 'pending' | 'in_progress' | 'completed' | 'failed'

/** The fields of a tool call that an ACP message sets. Missing and unreadable fields are absent. */
export interface AgentCallFields {
  readonly id: string
  readonly name?: string
  readonly title?: string
  readonly kind?: string
  readonly status?: CallStatus
  readonly rawInput?: unknown
  readonly rawOutput?: unknown
  readonly locations?: readonly Location[]
  /** Texts, images, links and files. */
  readonly content?: readonly AcpBlock[]
  readonly diffs?: readonly FileDiff[]
  readonly meta: Readonly<Record<string, unknown>>
}

export interface PlanEntry {
  readonly content: string
  readonly status: string
}

export interface OfferedCommand {
  /** The command without its slash. */
  readonly name: string
  readonly description: string
}

/** A session update, reduced to the data that a space uses. */
export type AgentUpdate =
  | { readonly type: 'text' | 'thought'; readonly text: string; readonly messageId?: string }
  | { readonly type: 'plan'; readonly entries: readonly PlanEntry[] }
  | { readonly type: 'call'; readonly fields: AgentCallFields }
  | { readonly type: 'mode'; readonly mode: string }
  | { readonly type: 'commands'; readonly commands: readonly OfferedCommand[] }
  /** This session has started a sub-agent with its own session. */
  | { readonly type: 'subagent'; readonly sessionId: string }
  /** Any other update, including kinds of newer ACP versions. */
  | { readonly type: 'other' }

export interface Option {
  readonly id: string
  readonly kind: string
  readonly name: string
}

export interface PermissionRequest {
  readonly sessionId: string
  /** Texts in `_meta`, which may contain the id of a parent session. */
  readonly related: readonly string[]
  readonly call: AgentCallFields
  readonly options: readonly Option[]
}

/** A message lacks a required field. The error contains the field's path and value. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
  constructor(
    readonly path: string,
    value: unknown,
  ) {
    super(`${path} is ${show(value)}`)
  }
}

/** Called with each unreadable part of a message. `kind`: the same text for similar parts, for deduplication. */
export type OnSkipped = (fault: {
  readonly problem: string
  readonly text: string
  readonly kind: string
}) => void

export interface SessionUpdate {
  readonly sessionId: string
  /** Texts in `_meta`, as in a `PermissionRequest`: one may be the id of a parent session. */
  readonly related: readonly string[]
  readonly update: AgentUpdate
}

/** Reads `params` of `session/update`. Throws an `UnreadableError` if a required field is missing. */
export function readUpdate(params: unknown, onSkipped: OnSkipped = () => {}): SessionUpdate {
  if (!isObject(params)) throw new UnreadableError('params', params)
  const { sessionId, update } = params
  if (typeof sessionId !== 'string') throw new UnreadableError('params.sessionId', sessionId)
  if (!isObject(update)) throw new UnreadableError('params.update', update)
  if (typeof update.sessionUpdate !== 'string')
    throw new UnreadableError('params.update.sessionUpdate', update.sessionUpdate)
  const related = [...listTexts(params._meta), ...listTexts(update._meta)]
  return { sessionId, related, update: readKind(update.sessionUpdate, update, onSkipped) }
}

/** Reads `params` of `session/request_permission`. Throws an `UnreadableError` if a required field is missing. */
export function readPermission(params: unknown, onSkipped: OnSkipped = () => {}): PermissionRequest {
  if (!isObject(params)) throw new UnreadableError('params', params)
  const { sessionId, toolCall, options } = params
  if (!isObject(toolCall)) throw new UnreadableError('params.toolCall', toolCall)
  const read = readList('params.options', onSkipped, (each): Option[] | undefined => {
    if (!isObject(each) || typeof each.optionId !== 'string') return undefined
    const { optionId, kind, name } = each
    return [{ id: optionId, kind: toText(kind) ?? '', name: toText(name) || optionId }]
  })
  return {
    sessionId: typeof sessionId === 'string' ? sessionId : '',
    related: [...listTexts(params._meta), ...listTexts(toolCall._meta)],
    call: readCall(toolCall, 'params.toolCall', onSkipped),
    options: read(options),
  }
}

/** Known kinds of updates that a space does not use: they are ignored without a report. */
const silentKinds: ReadonlySet<string> = new Set([
  'user_message_chunk',
  'config_option_update',
  'session_info_update',
  'usage_update',
])

function readKind(
  kind: string,
  update: Readonly<Record<string, unknown>>,
  onSkipped: OnSkipped,
): AgentUpdate {
  switch (kind) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk': {
      const blocks = readPromptBlocks(update.content, reportItems('params.update.content', onSkipped))
      if (blocks === undefined) throw new UnreadableError('params.update.content', update.content)
      const messageId = toText(update.messageId)
      const type = kind === 'agent_message_chunk' ? 'text' : 'thought'
      const text = blocks.map(toMarkdown).join('')
      return { type, text, ...omitUndefined({ messageId }) }
    }
    case 'plan': {
      if (!Array.isArray(update.entries)) throw new UnreadableError('params.update.entries', update.entries)
      const read = readList('params.update.entries', onSkipped, readEntry)
      return { type: 'plan', entries: read(update.entries.slice(0, maxPlanEntries)) }
    }
    case 'tool_call':
    case 'tool_call_update':
      return { type: 'call', fields: readCall(update, 'params.update', onSkipped) }
    case 'current_mode_update': {
      const mode = toText(update.currentModeId)
      return mode === undefined ? { type: 'other' } : { type: 'mode', mode }
    }
    case 'available_commands_update': {
      const read = readList('params.update.availableCommands', onSkipped, readCommand)
      return { type: 'commands', commands: read(update.availableCommands).slice(0, maxCommands) }
    }
    case 'subagent_update':
      if (typeof update.sessionId !== 'string')
        throw new UnreadableError('params.update.sessionId', update.sessionId)
      return { type: 'subagent', sessionId: update.sessionId }
    default:
      if (!silentKinds.has(kind)) {
        const problem = 'its kind is not known'
        onSkipped({ problem, text: show(kind), kind: `${problem}: ${show(kind)}` })
      }
      return { type: 'other' }
  }
}

function readCall(
  fields: Readonly<Record<string, unknown>>,
  path: string,
  onSkipped: OnSkipped,
): AgentCallFields {
  const { toolCallId, name, title, kind, status, rawInput, rawOutput, locations, content, _meta } = fields
  const id = typeof toolCallId === 'number' ? String(toolCallId) : toolCallId
  if (typeof id !== 'string') throw new UnreadableError(`${path}.toolCallId`, toolCallId)
  const parts = content == null ? undefined : readList(`${path}.content`, onSkipped, readPart)(content)
  const optional = {
    name: toText(name),
    title: toText(title),
    kind: toText(kind),
    status: isStatus(status) ? status : undefined,
    rawInput: rawInput ?? undefined,
    rawOutput: rawOutput ?? undefined,
    locations:
      locations == null ? undefined : readList(`${path}.locations`, onSkipped, readLocation)(locations),
    content: parts?.flatMap((part) => ('type' in part ? [part] : [])),
    diffs: parts?.flatMap((part) => ('path' in part ? [part] : [])),
  }
  const present = Object.entries(optional).filter(([, value]) => value !== undefined)
  return { id, meta: isObject(_meta) ? _meta : {}, ...Object.fromEntries(present) }
}

/** Returns a reader for a list or a single item; unreadable items are reported and omitted. */
const readList =
  <Item>(path: string, onSkipped: OnSkipped, read: (value: unknown) => readonly Item[] | undefined) =>
  (list: unknown): Item[] => {
    const report = reportItems(path, onSkipped)
    return toArray(list).flatMap((each, index) => {
      const items = read(each)
      if (items === undefined) report(index, each)
      return items ?? []
    })
  }

const reportItems =
  (path: string, onSkipped: OnSkipped) =>
  (index: number, value: unknown): void => {
    const problem = 'a part of it cannot be read'
    onSkipped({ problem, text: `${path}[${index}] is ${show(value)}`, kind: `${problem}: ${path}` })
  }

const statuses = ['pending', 'in_progress', 'completed', 'failed']
const isStatus = (value: unknown): value is CallStatus => statuses.includes(value as string)

/** Reads a content item as a file change or a block; ignores terminals, whose output `_meta` contains. */
function readPart(each: unknown): readonly (AcpBlock | FileDiff)[] | undefined {
  if (isObject(each) && each.type === 'terminal') return []
  if (isObject(each) && each.type === 'diff') return readDiff(each)
  const block = readBlock(isObject(each) && each.content !== undefined ? each.content : each)
  return block && (block.type === 'text' && block.text === '' ? [] : [block])
}

function readDiff({
  path,
  oldText,
  newText,
}: Readonly<Record<string, unknown>>): readonly FileDiff[] | undefined {
  if (typeof path !== 'string') return undefined
  const diff = { path, oldText: toText(oldText) ?? '', newText: toText(newText) ?? '' }
  return [newText == null ? { ...diff, deleted: true } : diff]
}

function readLocation(each: unknown): readonly Location[] | undefined {
  if (!isObject(each) || typeof each.path !== 'string') return undefined
  const { path, line } = each
  return [{ path, ...(typeof line === 'number' && { line }) }]
}

function readEntry(each: unknown): readonly PlanEntry[] | undefined {
  const { content, status } = isObject(each) ? each : { content: each, status: undefined }
  if (typeof content !== 'string') return undefined
  return [{ content: cut(content, maxEntryChars), status: toText(status) ?? 'pending' }]
}

function readCommand(each: unknown): readonly OfferedCommand[] | undefined {
  const { name, description } = isObject(each) ? each : { name: each, description: undefined }
  if (typeof name !== 'string') return undefined
  const about = cut(onOneLine(toText(description) ?? ''), maxDescriptionChars)
  return [{ name: name.replace(/^\//, ''), description: about }]
}

/** The texts in a `_meta`: agents name a parent session in different fields of it. */
function listTexts(value: unknown, depth = 0): readonly string[] {
  if (typeof value === 'string') return [value]
  if (!isObject(value) || depth >= maxMetaDepth) return []
  return Object.values(value)
    .flatMap((each) => listTexts(each, depth + 1))
    .slice(0, maxMetaTexts)
}

const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const toArray = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value == null ? [] : [value]

const show = (value: unknown): string =>
  value === undefined ? 'absent' : cut(JSON.stringify(value) ?? String(value), maxShownChars)
