/** A string, or what stands between strings. */
const parts = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g

/** What would not be seen, or would move what is seen. */
const unseen = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** JSON on many lines, every number and every text as it was written; what cannot be seen is spelled out. */
export function indentJson(json: string): string {
  let [text, depth] = ['', 0]
  const newLine = (): string => `\n${'  '.repeat(depth)}`
  let before = ''
  for (const [part] of json.matchAll(parts)) {
    const isEnd = part === '}' || part === ']'
    if (isEnd) depth--
    if (isEnd && before !== '{' && before !== '[') text += newLine()
    if (!isEnd && (before === '{' || before === '[')) text += newLine()
    text += part === ':' ? ': ' : part
    if (part === ',') text += newLine()
    if (part === '{' || part === '[') depth++
    before = part
  }
  return spellOut(text)
}

const spellOut = (text: string): string =>
  text.replace(unseen, (character) =>
    character === '\n' ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
