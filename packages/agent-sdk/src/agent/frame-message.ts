import { sanitize } from '@meup/safety/sanitize'

/** Characters that some program treats as line breaks: those of Unicode and of Python's `splitlines`. */
const breaks = '\\n\\v\\f\\r\\x1c-\\x1e\\x85\\u2028\\u2029'
const lineBreak = new RegExp(`\\r\\n|[${breaks}]`, 'g')
const lineOfText = new RegExp(`(^|[${breaks}])([^${breaks}]+)`, 'g')

/** Quotes a text of others line by line. Replaces markers of roles and turns by words, and drops invisible characters. */
export const quoteText = (text: string): string => `> ${quoteForPrompt(text)}`

/** Quotes only the lines after the first one, for a text that continues a line of ours. */
export const quoteForPrompt = (text: string): string =>
  sanitize(text.replace(lineBreak, '\n').replace(/\n+$/, '')).replaceAll('\n', '\n> ')

/** The rule for models that corresponds to `frameMessage`. */
export const framingRule = 'Messages of others begin with their name; further lines begin with ">".'

/** A message of a participant; a turn is one. */
export interface SaidText {
  /** The sender's id. */
  readonly from: string
  readonly text: string
}

/**
 * Formats a message for a prompt: `ana: Can we deploy?`. Further lines begin with `> `, so that no text can imitate another
 * speaker, or the end of its own.
 */
export const frameMessage = ({ from, text }: SaidText): string => `${from}: ${quoteForPrompt(text)}`

/** Beginnings of lines that report the outcome of a call to a model, normalized to lower-case letters and digits. */
const ownBeginnings = [
  'approvedby',
  'thisneededanapproval',
  'thespacerefusedthecall',
  'thetooldidnotanswer',
  'thetoolfailed',
  'donethetoolgaveback',
]
/** Formats a tool result for a prompt unchanged, so that code and data stay usable. Quotes lines that begin like one of ours. */
export const frameResult = (text: string): string =>
  sanitize(text).replace(lineOfText, (_, before: string, line: string) =>
    isLikeOurs(line) ? `${before}> ${line}` : `${before}${line}`,
  )

function isLikeOurs(line: string): boolean {
  const beginning = line
    .slice(0, 200)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
  return ownBeginnings.some((each) => beginning.startsWith(each))
}
