import { cut, onOneLine } from '@meup/folds'
import { canonicalJson, parseExact, stringifyExact } from '@meup/protocol'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { ExtractedCall } from '../extract/index.js'
import { type Content, checkContent } from './content.js'
import { TranscriptError } from './errors.js'

/** An entry of a transcript; deeply frozen. */
export interface Commit<C extends Content = Content> {
  /** SHA-256 of all other fields, in hex. */
  readonly hash: string
  /** Hash of the previous commit; `null` = this is the first. */
  readonly parent: string | null
  readonly content: Readonly<C>
  /** A description in one line. */
  readonly message: string
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface CommitOptions {
  /** A description in one line; default: the beginning of the text. */
  readonly message?: string
  /** Additional data, which is not part of prompts. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

const maxLineChars = 72

/** Creates a commit with its hash. Throws `TranscriptError` for invalid content. */
export function seal<C extends Content>(
  content: C,
  parent: string | null,
  { message, metadata }: CommitOptions = {},
): Commit<C> {
  checkContent(content)
  const line = message ?? lineOf(content)
  const body = freezeJson({ parent, content, message: line, ...(metadata && { metadata }) })
  return Object.freeze({ hash: hashCommit(body), ...body })
}

/** Hashes all fields of a commit, except its hash. */
export function hashCommit(commit: Omit<Commit, 'hash'>): string {
  const json = utf8ToBytes(stringifyExact(commit))
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(json, 'hash'))))
}

function freezeJson<Value>(value: Value): Value {
  try {
    return frozenJson(value)
  } catch (cause) {
    throw new TranscriptError('not_json', { reason: String(cause) }, { cause })
  }
}

/** Describes content in one line: the beginning of its text, otherwise the names of the called tools. */
function lineOf(content: Content): string {
  const calls = content.content_type === 'assistant' ? (content.toolCalls ?? []) : []
  const isMute = content.text.trim() === '' && calls.length > 0
  const text = isMute ? `→ ${calls.map(({ name }) => name).join(', ')}` : content.text
  return cut(onOneLine(text), maxLineChars)
}

export type ChainVerdict =
  | { readonly ok: true; readonly commits: number; readonly head: string | null }
  /** `at`: index of the first invalid commit; the number of commits if the head is wrong. */
  | { readonly ok: false; readonly at: number; readonly problem: 'parent' | 'hash' | 'head' }

/**
 * Verifies that each commit matches its hash and follows the previous one. `head`: if given, the hash that the last commit must
 * have.
 */
export function verifyCommits(commits: readonly Commit[], head?: string | null): ChainVerdict {
  let parent: string | null = null
  for (const [at, commit] of commits.entries()) {
    if (commit.parent !== parent) return { ok: false, at, problem: 'parent' }
    if (hashCommit(commit) !== commit.hash) return { ok: false, at, problem: 'hash' }
    parent = commit.hash
  }
  if (head !== undefined && head !== parent) return { ok: false, at: commits.length, problem: 'head' }
  return { ok: true, commits: commits.length, head: parent }
}

/** Calls of the last answer that have no result yet. */
export function openCalls(commits: readonly Commit[]): readonly ExtractedCall[] {
  const at = commits.findLastIndex(({ content }) => content.content_type !== 'tool')
  const caller = commits[at]?.content
  if (caller?.content_type !== 'assistant' || caller.toolCalls === undefined) return []
  const results = new Set(commits.slice(at + 1).map(({ content }) => 'callId' in content && content.callId))
  return caller.toolCalls.filter(({ id }) => !results.has(id))
}

/** Throws `TranscriptError` if providers would not accept a prompt with this commit at the end. */
export function mustFollow(content: Content, commits: readonly Commit[]): void {
  const open = openCalls(commits)
  if (content.content_type === 'tool') {
    if (open.some(({ id }) => id === content.callId)) return
    throw new TranscriptError('unexpected_result', { callId: content.callId })
  }
  const calls = open.map(({ id, name }) => `${id} (${name})`)
  if (calls.length > 0) throw new TranscriptError('missing_results', { calls })
  if (content.content_type === 'reasoning' && commits.at(-1)?.content.content_type === 'assistant')
    throw new TranscriptError('late_reasoning', {})
}

/**
 * Copies a value as JSON and freezes it deeply, so that a commit always matches its hash. Bytes become base64, as in providers'
 * JSON. Throws `TypeError` for values that JSON cannot represent.
 */
export function frozenJson<Value>(value: Value): Value {
  const copy = parseExact(String(stringifyExact(value, bytesAsBase64)))
  deepFreeze(copy)
  return copy as Value
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const each of Object.values(value)) deepFreeze(each)
  Object.freeze(value)
}

/**
 * Encodes bytes as base64. Reads the property itself, because `value` is already the result of `toJSON`, which a `Buffer` has.
 */
function bytesAsBase64(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const original = this[key]
  if (!(original instanceof Uint8Array)) return value
  return btoa(Array.from(original, (byte) => String.fromCharCode(byte)).join(''))
}
