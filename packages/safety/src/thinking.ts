import type { Span } from './spans.js'

const tokens = /`+|<(\/?)think(?:ing)?>/gi

/**
 * Takes the raw thinking of a model out of a text that stands right behind `before`: what stands between `<think>` or
 * `<thinking>` and its end. Where the end is missing it is the rest of the text, if the line begins with the tag or a letter
 * follows at once, unlike where somebody writes about the tag; where the beginning is missing, because the model's template wrote
 * it, it is all that stands before. Tags in code, as Markdown marks it, are only spoken of. A tag may begin in one text and end
 * in the next.
 */
export function withoutThinking(text: string, before = ''): string {
  if (!text.includes('<') && !before.includes('<')) return text
  const { kept } = read(before + text, before.length)
  return kept
    .map(({ start, end }) => text.slice(Math.max(0, start - before.length), Math.max(0, end - before.length)))
    .join('')
}

/** Whether what follows on a text behind `before` is raw thinking, until it ends. */
export const isThinking = (text: string, before: string): boolean =>
  (text.includes('<') || before.includes('<')) && read(before + text, before.length).isThinking

/** `seam`: a line begins there, too. */
function read(text: string, seam: number): { kept: Span[]; isThinking: boolean } {
  const found = [...text.matchAll(tokens)]
  if (!found.some(isTag)) return { kept: [{ start: 0, end: text.length }], isThinking: false }
  const lastOfLength = new Map(found.filter(isTicks).map(({ 0: ticks, index }) => [ticks, index]))
  const kept: Span[] = []
  /** What is before this is decided on. */
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

/** Whether a tag without an end begins raw thinking. `from`: what is before is decided on. */
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
