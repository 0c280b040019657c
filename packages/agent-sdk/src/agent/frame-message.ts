import { sanitize } from '@meup/safety/sanitize'

/** Characters that some program takes for the end of a line: Unicode's line breaks, and those of Python's `splitlines`. */
const breaks = '\\n\\v\\f\\r\\x1c-\\x1e\\x85\\u2028\\u2029'
const lineBreak = new RegExp(`\\r\\n|[${breaks}]`, 'g')
const lineOfText = new RegExp(`(^|[${breaks}])([^${breaks}]+)`, 'g')

/** Quotes a text of others, line by line. Markers of roles and turns become words, and what is invisible is dropped. */
export const quoteText = (text: string): string => `> ${quoteFurtherLines(text)}`

/** The same of a text that goes on in a line of ours: only the lines after its first one are quoted. */
export const quoteFurtherLines = (text: string): string =>
  sanitize(text.replace(lineBreak, '\n').replace(/\n+$/, '')).replaceAll('\n', '\n> ')

/** The rule for models that `frameMessage` follows. */
export const framingRule = 'What others say begins with their name; its further lines begin with ">".'

/** What somebody said: a turn is one. */
export interface SaidText {
  /** The id of its sender. */
  readonly from: string
  readonly text: string
}

/**
 * Writes what a participant said into a prompt: `ana: Can we deploy?`. Its further lines begin with `> `, so that no text can
 * pass for another speaker's, or for the end of its own.
 */
export const frameMessage = ({ from, text }: SaidText): string => `${from}: ${quoteFurtherLines(text)}`

/** How lines begin that tell a model what became of a call: letters and digits alone, in lower case. */
const ownBeginnings = [
  'approvedby',
  'thisneededanapproval',
  'thespacerefusedthecall',
  'thetooldidnotanswer',
  'thetoolfailed',
  'donethetoolgaveback',
]
/**
 * Writes what a tool gave back into a prompt, as it is: code and data stay usable. A line of it that begins as one of ours does
 * is quoted.
 */
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
