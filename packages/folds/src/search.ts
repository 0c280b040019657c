import type { Envelope } from '@meup/protocol'
import { isSecretField } from './redact.js'
import { isObject, onOneLine, printable } from './text.js'

/** A match, prepared for display. */
export interface Match {
  /** The text around the first matching word, on one line. */
  readonly snippet: string
  /** Positions of the words in the snippet: start inclusive, end exclusive. */
  readonly ranges: readonly (readonly [start: number, end: number])[]
}

/** Maximum characters per envelope that are searched. */
const maxSearchedChars = 200_000
/** Maximum characters of a snippet, and of its part before the first word. */
const [maxSnippetChars, maxBeforeChars] = [200, 60]
/** Characters on each side of the first word in which secrets are masked. Only then is the snippet cut: a cut secret is not found. */
const aroundChars = 2000

/** Finds envelopes that contain all words of a query, ignoring case. */
export class TextSearch {
  /** The distinct words of the query, as typed. */
  readonly words: readonly string[]
  readonly #each: readonly RegExp[]
  readonly #any: RegExp | undefined
  /** The words as they are escaped in JSON, in lower case. */
  readonly #encoded: readonly string[]

  constructor(query: string) {
    const words = printable(query).split(/\s+/).filter(Boolean)
    this.words = [...new Set(words)]
    const patterns = this.words.map(escapePattern)
    this.#each = patterns.map((pattern) => new RegExp(pattern, 'iu'))
    this.#any = patterns.length === 0 ? undefined : new RegExp(patterns.join('|'), 'giu')
    this.#encoded = this.words.map((word) => JSON.stringify(word.toLowerCase()).slice(1, -1))
  }

  /** Cheap test whether the JSON of an envelope may match, without parsing it. */
  mayMatch(json: string): boolean {
    if (this.words.length === 0 || !isPlain.test(json)) return true
    const text = json.toLowerCase()
    return this.#encoded.every((word) => text.includes(word))
  }

  /** Finds the words of the query in an envelope; `undefined` unless it has all of them. `guard` masks the snippet. */
  match(envelope: Envelope, guard: (text: string) => string = (text) => text): Match | undefined {
    const [said, about] = [listTexts(envelope).join('\n'), describeAddress(envelope)]
    if (!this.#each.every((word) => word.test(said) || word.test(about))) return undefined
    return this.#quote(said, guard)
  }

  #quote(said: string, guard: (text: string) => string): Match {
    const at = this.#find(said)
    const around = said.slice(Math.max(0, at - aroundChars), at + aroundChars)
    const line = onOneLine(guard(around))
    const first = this.#find(line)
    const word = first <= maxBeforeChars ? 0 : line.indexOf(' ', first - maxBeforeChars) + 1
    const from = Math.min(word, first)
    const isCut = line.length > from + maxSnippetChars
    const text = `${from > 0 || at > aroundChars ? '…' : ''}${line.slice(from, from + maxSnippetChars)}${isCut ? '…' : ''}`
    const found = this.#any === undefined ? [] : [...text.matchAll(this.#any)]
    return { snippet: text, ranges: found.map(({ index, 0: word }) => [index, index + word.length]) }
  }

  #find(text: string): number {
    return Math.max(0, this.#any === undefined ? 0 : text.search(this.#any))
  }
}

/** Returns the complete text of an envelope that `TextSearch` searches. */
export const searchedText = (envelope: Envelope): string =>
  [...listTexts(envelope), describeAddress(envelope)].join('\n')

const describeAddress = ({ from, kind, to = [], context = '' }: Envelope): string =>
  [from, kind, ...to, context].join('\n')

/**
 * Matches JSON in printable ASCII, without escapes other than `\"`, `\\`, `\n` and `\t`: each word is written as in `#encoded`.
 */
const isPlain = /^(?:[\x20-\x5b\x5d-\x7e]|\\["\\nt])*$/

const escapePattern = (word: string): string => word.replace(/[$()*+.?[\\\]^{|}/]/g, '\\$&')

/** Down to this depth, field names belong to the protocol and are not searched. */
const namedDepth = 2
/** Further protocol fields that are not searched. */
const formal: ReadonlySet<string> = new Set(['jsonrpc', 'type', 'mimeType', 'format'])

/** Lists the texts of an envelope for readers, without formal fields, named secrets and binary data. @internal */
export function listTexts(
  { rationale, payload }: Pick<Envelope, 'rationale' | 'payload'>,
  maxChars = maxSearchedChars,
): string[] {
  const texts: string[] = []
  let left = maxChars
  const add = (text: string): void => {
    const shown = printable(text.slice(0, left))
    left -= text.length
    if (shown !== '') texts.push(shown)
  }
  const gather = (value: unknown, depth: number): void => {
    if (left <= 0 || value === undefined || value === null) return
    if (Array.isArray(value)) for (const each of value) gather(each, depth + 1)
    else if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) {
        if (isSecretField(value, name) || isFormal(value, name)) continue
        if (depth >= namedDepth) add(name)
        gather(each, depth + 1)
      }
    } else add(String(value))
  }
  gather(payload, 0)
  if (rationale !== undefined) add(rationale)
  return texts
}

/** Whether a field is not for readers. Images and audio are binary data, which would match arbitrary words. */
const isFormal = (value: Readonly<Record<string, unknown>>, name: string): boolean =>
  formal.has(name) || ((name === 'data' || name === 'blob') && typeof value.mimeType === 'string')
