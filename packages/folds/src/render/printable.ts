const invisible = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/**
 * Text from others, safe for a terminal: control characters (but line breaks and tabs), bidirectional overrides and
 * invisible format characters are taken out, so that nobody can move the cursor or disguise a line.
 */
export const printable = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(invisible, (char) => (char === '\n' || char === '\t' ? char : ''))

/** The same on one line. */
export const onOneLine = (text: string): string => printable(text).replace(/\s+/g, ' ').trim()

/** The first `most` characters on one line; what is cut is marked. */
export function brief(text: string, most: number): string {
  const line = onOneLine(text)
  const characters = [...line]
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`
}

/** JSON on one line, in which the same characters are escaped: it means what it did. */
export const printableJson = (value: unknown): string => JSON.stringify(value).replace(invisible, escaped)

/** As UTF-16, which is how JSON counts. */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`
  }).join('')
