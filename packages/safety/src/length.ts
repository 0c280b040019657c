const ellipsis = '…'
const splitPair = /[\ud800-\udbff]$/
const mark = /\[redacted:[a-z0-9-]+\]/y

/** Characters behind the longest text that are read all the same, so that a secret that begins before them is seen. */
const foresight = 2048

/** What of a text is worth reading: of a much longer one than may be shown, the rest is cut off anyway. */
export const readable = (text: string, maxLength: number): string =>
  text.slice(0, maxLength + foresight).replace(splitPair, '')

/**
 * Cuts what came of the readable part of a longer text. Where that part ends, half a secret may stand unseen: so many
 * characters of its end are never shown.
 */
export const clampReadable = (text: string, maxLength: number): string =>
  clamp(text.slice(0, Math.max(0, text.length - foresight)) + ellipsis, maxLength)

/** Cuts a text to so many characters (UTF-16), the last of them `…`. No character and no mark is cut in half. */
export function clamp(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const most = Math.max(0, maxLength - ellipsis.length)
  const cut = text.slice(0, most).replace(splitPair, '')
  const bracket = cut.lastIndexOf('[')
  mark.lastIndex = Math.max(0, bracket)
  const isCutMark = mark.test(text) && mark.lastIndex > cut.length
  return (isCutMark ? cut.slice(0, bracket) : cut) + ellipsis
}
