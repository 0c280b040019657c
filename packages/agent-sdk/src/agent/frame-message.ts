import { sanitize } from '@meup/safety/sanitize'

/** Characters that some programs treat as line breaks: those of Unicode and of Python's `splitlines`. */
const breaks = '\\n\\v\\f\\r\\x1c-\\x1e\\x85\\u2028\\u2029'
const lineBreak = new RegExp(`\\r\\n|[${breaks}]`, 'g')
const lineOfText = new RegExp(`(^|[${breaks}])([^${breaks}]+)`, 'g')

/** Quotes each line of a foreign text. Replaces role and turn markers by words, and removes invisible characters. */
export const quoteText = (text: string): string => `> ${quoteForPrompt(text)}`

/** Quotes all lines but the first, for a text that continues a line of the prompt. */
export const quoteForPrompt = (text: string): string =>
  sanitize(text.replace(lineBreak, '\n').replace(/\n+$/, '')).replaceAll('\n', '\n> ')

/** The rule in the system prompt that explains the format of `frameMessage`. */
export const framingRule = 'Messages of others begin with their name; further lines begin with ">".'

/** A text and its sender: a chat message, or the question of a turn. */
export interface SaidText {
  readonly from: string
  readonly text: string
}

/**
 * Formats a message for a prompt: `ana: Can we deploy?`. Further lines begin with `> `, so that a text cannot imitate another
 * speaker or its own end.
 */
export const frameMessage = ({ from, text }: SaidText): string => `${from}: ${quoteForPrompt(text)}`

/** Beginnings of the lines that inform a model of the outcome of its tool call, normalized to lower-case letters and digits. */
const ownBeginnings = [
  'approvedby',
  'thisneededanapproval',
  'thespacerefusedthecall',
  'thetooldidnotanswer',
  'thetoolfailed',
  'donethetoolgaveback',
]
/** Formats a tool result for a prompt. Code and data stay unchanged; lines that imitate a report of an outcome are quoted. */
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
