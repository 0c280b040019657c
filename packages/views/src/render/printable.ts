/**
 * Text from others, safe for a terminal: control characters (but line breaks and tabs), bidirectional overrides and
 * invisible format characters are taken out, so that nobody can move the cursor or disguise a line.
 */
export const printable = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => (/[\n\t]/.test(character) ? character : ''))

/** The same on one line. */
export const onOneLine = (text: string): string => printable(text).replace(/\s+/g, ' ').trim()
