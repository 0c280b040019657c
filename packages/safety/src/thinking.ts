import type { Span } from './spans.js'

const tokens = /`+|<(\/?)think(?:ing)?>/gi

/**
 * Removes a model's raw thinking from a text that directly follows `before`: the content of `<think>` or `<thinking>`. Without
 * a closing tag it extends to the end, if the line begins with the tag or a letter follows directly, which distinguishes it
 * from a mention; without an opening tag, which templates may have written, it extends from the beginning. Tags in Markdown
 * code are mentions. A tag may be split over two texts.
 */
export function withoutThinking(text: string, before = ''): string {
  if (!text.includes('<') && !before.includes('<')) return text
  const { kept } = read(before + text, before.length)
  return kept
    .map(({ start, end }) => text.slice(Math.max(0, start - before.length), Math.max(0, end - before.length)))
    .join('')
}

/** Whether the end of `text`, which follows `before`, is raw thinking. */
export const isThinking = (text: string, before: string): boolean =>
  (text.includes('<') || before.includes('<')) && read(before + text, before.length).isThinking

/** Finds the parts of a text that are not raw thinking. `seam`: offset that also counts as the beginning of a line. */
function read(text: string, seam: number): { kept: Span[]; isThinking: boolean } {
  const found = [...text.matchAll(tokens)]
  if (!found.some(isTag)) return { kept: [{ start: 0, end: text.length }], isThinking: false }
  const lastOfLength = new Map(found.filter(isTicks).map(({ 0: ticks, index }) => [ticks, index]))
  const kept: Span[] = []
  /** Offset before which all text has already been kept or removed. */
  let at = 0
  let code: string | undefined
  let begun: RegExpMatchArray | undefined

  for (const token of found) {
    const [tag, slash] = token
    const { index } = token
    if (isTicks(token)) {
      if (begun !== undefined) continue
      if (code === tag) code = undefined
      else if (code === undefined && (lastOfLength.get(tag) ?? 0) > index) code = tag
    } else if (code === undefined && slash === '') begun ??= token
    else if (code === undefined) {
      if (begun !== undefined) kept.push({ start: at, end: begun.index ?? 0 })
      at = index + tag.length
      begun = undefined
    }
  }
  const isBegun = begun !== undefined && beginsThinking(text, begun, at, seam)
  kept.push({ start: at, end: isBegun ? (begun?.index ?? at) : text.length })
  return { kept, isThinking: isBegun }
}

/**
 * Returns `true` if a tag without a closing tag begins raw thinking. `from`: offset before which all text has already been kept
 * or removed.
 */
function beginsThinking(
  text: string,
  { 0: tag, index = 0 }: RegExpMatchArray,
  from: number,
  seam: number,
): boolean {
  const lineStart = Math.max(text.lastIndexOf('\n', index) + 1, index >= seam ? seam : 0)
  if (text.slice(Math.max(lineStart, from), index).trim() === '') return true
  const end = index + tag.length
  return end !== seam && letter.test(text.slice(end, end + 2))
}

const letter = /^\p{L}/u
const isTicks = ([token]: RegExpMatchArray): boolean => token.startsWith('`')
const isTag = (token: RegExpMatchArray): boolean => !isTicks(token)
