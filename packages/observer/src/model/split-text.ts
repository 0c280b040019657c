import { type Match, onOneLine } from '@meup/folds'

/** Characters from which on a text is split at the next paragraph; `maxPartChars`: at the next line. */
export const partChars = 4000
const maxPartChars = 12_000

/**
 * Splits a long Markdown text into parts that can be rendered separately: between paragraphs, and never within a code block or
 * table. The parts concatenate to the text. While a text grows, only its last part changes.
 */
export function splitText(text: string): readonly string[] {
  if (text.length <= partChars) return [text]
  const parts: string[] = []
  let [start, fence, isAfterBlank] = [0, '', false]
  const cutAt = (end: number): void => {
    parts.push(text.slice(start, end))
    start = end
  }
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at)
    const end = newline === -1 ? text.length : newline + 1
    const mark = getFence(text, at, end)
    if (fence !== '') {
      if (mark.startsWith(fence) && text.slice(at, end).trim().length === mark.length) fence = ''
    } else {
      const isWhole = text[at] === '|' // Lines of a table stay together.
      const isParagraph = isAfterBlank && !/\s/.test(text[at] ?? '')
      const isFull = end - start > maxPartChars && !isWhole
      if (at - start >= partChars && (isParagraph || isFull)) cutAt(at)
      if (!isWhole && mark === '')
        while (end - start > maxPartChars) cutAt(findBreak(text, start + maxPartChars))
      fence = mark
    }
    isAfterBlank = text.slice(at, end).trim() === ''
    at = end
  }
  if (start < text.length) cutAt(text.length)
  return parts
}

/** The fence of a code block on this line; `''` if there is none. */
const getFence = (text: string, from: number, to: number): string =>
  /^[\s>]*(`{3,}|~{3,})/.exec(text.slice(from, Math.min(to, from + 200)))?.[1] ?? ''

/** Characters before the end of a part in which a space is searched. */
const maxWordChars = 200

/** Index after the last space before `at`; without one nearby, `at` itself. */
function findBreak(text: string, at: number): number {
  const space = text.lastIndexOf(' ', at - 1)
  if (space >= at - maxWordChars) return space + 1
  return /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at
}

/** Characters of a search hit, from its first found word on, by which the part that contains it is recognized. */
const hitChars = 60

/** Index of the part that contains a search hit. `snippet`: one line of the text; `ranges`: the found words in it. */
export function findPart(
  parts: readonly string[],
  { snippet, ranges: [[start, end] = [0, snippet.length]] }: Pick<Match, 'snippet' | 'ranges'>,
): number {
  const lines = parts.map(onOneLine)
  for (const length of [hitChars, end - start]) {
    const sought = snippet
      .slice(start, start + length)
      .replace(/…$/, '')
      .trim()
    const found = lines.findIndex((line) => line.includes(sought))
    if (found !== -1) return found
  }
  return 0
}

const definition = /^ {0,3}\[[^\]\n]{1,200}\]:[ \t]*\S{1,2000}/gm

/** Lines with link definitions, which links in any part may refer to. */
export const findDefinitions = (text: string): string =>
  (text.match(definition) ?? []).slice(0, 200).join('\n')
