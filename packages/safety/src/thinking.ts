const tokens = /`+|<(\/?)think(?:ing)?>/gi

/**
 * Takes the raw thinking of a model out of a text: what stands between `<think>` or `<thinking>` and its end. Where the
 * end is missing it is the rest of the text, if the line begins with it; where the beginning is missing, because the
 * model's template wrote it, it is all that stands before. Tags in code, as Markdown marks it, are only spoken of.
 */
export function withoutThinking(text: string): string {
  if (!text.includes('<')) return text
  const found = [...text.matchAll(tokens)]
  if (!found.some(isTag)) return text
  const lastOfLength = new Map(found.filter(isTicks).map(({ 0: ticks, index }) => [ticks, index]))
  let kept = ''
  /** What is before this is decided on. */
  let at = 0
  let code: string | undefined
  let begun: number | undefined

  for (const token of found) {
    const [tag, slash] = token
    const { index } = token
    if (isTicks(token)) {
      if (begun !== undefined) continue
      if (code === tag) code = undefined
      else if (code === undefined && (lastOfLength.get(tag) ?? 0) > index) code = tag
    } else if (code === undefined && slash === '') begun ??= index
    else if (code === undefined) {
      if (begun !== undefined) kept += text.slice(at, begun)
      at = index + tag.length
      begun = undefined
    }
  }
  if (begun === undefined) return kept + text.slice(at)
  const lineStart = text.lastIndexOf('\n', begun) + 1
  const beginsLine = text.slice(Math.max(lineStart, at), begun).trim() === ''
  return kept + (beginsLine ? text.slice(at, begun) : text.slice(at))
}

const isTicks = ([token]: RegExpMatchArray): boolean => token.startsWith('`')
const isTag = (token: RegExpMatchArray): boolean => !isTicks(token)
