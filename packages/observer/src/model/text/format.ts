const units = ['B', 'KB', 'MB', 'GB'] as const

/** `812 B`, `1.8 MB`. */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

/** Made once, since to make one takes a thousand times as long as to use it. */
const timeFormat = (
  options: Intl.DateTimeFormatOptions,
  locales?: string,
): ((at: Date | number) => string) => {
  const format = new Intl.DateTimeFormat(locales, options)
  return (at) => (Number.isNaN(Number(at)) ? 'at no time' : format.format(at))
}
const minutes = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const seconds = { ...minutes, second: '2-digit' } as const
const inMinutes = timeFormat(minutes)
const inSeconds = timeFormat(seconds)
const inTenths = timeFormat({ ...seconds, fractionalSecondDigits: 1 })
const day = timeFormat({ day: 'numeric', month: 'short' }, 'en-GB')
const second = timeFormat({ timeStyle: 'medium' }, 'en-GB')

/** Hours and minutes where the reader is. */
export const clockText = (ts: string): string => inMinutes(new Date(ts))

/** Time to the second where the reader is, to its tenth where `ms`, since 1970, is none. */
export const tickText = (ms: number): string => (ms % 1000 === 0 ? inSeconds : inTenths)(ms)

/** Day and time to the second where the reader is, such as `22 Nov 12:01:33`. */
export const momentText = (ts: string): string => {
  const at = new Date(ts)
  return `${day(at)} ${second(at)}`
}

/** `1 tool`, `3 tools`. */
export const countText = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`

/** A number from 0 to `buckets` - 1, always the same for the same text, and another one for one much like it. */
export function hashToBucket(text: string, buckets: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  return hash % buckets
}

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
