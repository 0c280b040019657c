const ellipsis = '…'
const splitPair = /[\ud800-\udbff]$/
const mark = /\[redacted:[a-z0-9-]+\]/y

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
