/**
 * Text from others, safe for a terminal: control characters (but line breaks and tabs), bidirectional overrides and
 * invisible format characters are taken out, so that nobody can move the cursor or disguise a line.
 */
export const printable = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char) => (char === '\n' || char === '\t' ? char : ''))

/** The first `most` characters on one line; what is cut is marked. */
export function brief(text: string, most: number): string {
  const line = printable(text).replace(/\s+/g, ' ').trim()
  const characters = [...line]
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`
}
