import { cut, onOneLine } from '@meup/folds'
import { canonicalJson } from '@meup/protocol'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { type Content, checkContent } from './content.js'
import { TranscriptError } from './errors.js'
import { frozenJson } from './frozen-json.js'

/** One entry of a transcript. Frozen. */
export interface Commit<C extends Content = Content> {
  /** SHA-256 of all the rest, in hex. */
  readonly hash: string
  /** Hash of the commit before; `null` = this is the first. */
  readonly parent: string | null
  readonly content: Readonly<C>
  /** One line about it. */
  readonly message: string
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface CommitOptions {
  /** One line about it; default: how its text begins. */
  readonly message?: string
  /** Whatever else is worth knowing; it goes into no prompt. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

const longestLine = 72

/** Throws `TranscriptError` where the content is none. */
export function seal<C extends Content>(
  content: C,
  parent: string | null,
  { message, metadata }: CommitOptions = {},
): Commit<C> {
  checkContent(content)
  const line = message ?? lineOf(content)
  const body = jsonOf({ parent, content, message: line, ...(metadata && { metadata }) })
  return Object.freeze({ hash: hashOf(body), ...body })
}

/** Of everything but the hash itself. */
export function hashOf(commit: Omit<Commit, 'hash'>): string {
  const json = utf8ToBytes(JSON.stringify(commit))
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(json, 'hash'))))
}

function jsonOf<Value>(value: Value): Value {
  try {
    return frozenJson(value)
  } catch (cause) {
    throw new TranscriptError('invalid_content', `this cannot be said in JSON: ${String(cause)}`, { cause })
  }
}

/** How it begins, or what it calls where it says nothing. */
function lineOf(content: Content): string {
  const calls = content.content_type === 'assistant' ? (content.toolCalls ?? []) : []
  const isMute = content.text.trim() === '' && calls.length > 0
  const text = isMute ? `→ ${calls.map(({ name }) => name).join(', ')}` : content.text
  return cut(onOneLine(text), longestLine)
}
