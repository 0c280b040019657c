import {
  cut,
  type Guard,
  getParameters,
  getToolName,
  inlineJson,
  isElicitation,
  isObject,
  isWithheld,
  onOneLine,
  payloadText,
  printable,
  redact,
  shortenArguments,
} from '@meup/folds'
import type { Envelope } from '@meup/protocol'

/**
 * Masks nothing by content: the gateway has masked thoughts, and MCP is shown as sent. Fields with secret names are masked
 * anyway.
 */
export const noRedaction: Guard = (text) => ({ text, isWithheld: false })

/** Maximum characters of a text on one line. */
const maxLineChars = 1000

/** Removes Markdown marks and line breaks. Names such as `__init__` and `snake_case` stay unchanged. */
export const stripMarkdown = (text: string): string =>
  cut(text, maxLineChars)
    .replace(/^ {0,3}(```|~~~).*$/gm, '')
    .replace(/^ {0,3}(?:#{1,6} +|> ?|[-*+] +(?:\[[ xX]\] +)?|\d{1,3}[.)] +)/gm, '')
    .replace(/!?\[([^[\]\n]*)\]\([^()\n]*\)/g, '$1')
    .replace(/(\*\*|~~)(?=\S)([^\n]*?\S)\1/g, '$2')
    .replace(/(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/g, '$1')
    .replace(/`+([^`\n]+)`+/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()

/** Matches an incomplete link at the end of a Markdown text. */
const halfLink = /!?\[([^[\]\n]*)(?:\](?:\([^()\n]*|\[[^[\]\n]*)?)?$/

/** Replaces an incomplete link at the end of an unfinished Markdown text by its text; code stays unchanged. */
export function dropHalfLink(text: string): string {
  const isInFence = (text.match(/^ {0,3}(?:```|~~~)/gm) ?? []).length % 2 === 1
  const paragraph = text.slice(text.lastIndexOf('\n\n') + 1)
  const isInCode = (paragraph.match(/`+/g) ?? []).length % 2 === 1
  return isInFence || isInCode ? text : text.replace(halfLink, '$1')
}

/** Whether a text is unambiguously a URL of this host: `https://this@that` belongs to `that`. */
export const namesHost = (text: string, { host, origin }: URL): boolean =>
  text === host || (text.startsWith(origin) && /^(?:[/?#]|$)/.test(text.slice(origin.length)))

const maxParametersChars = 200

/** The text of an envelope, safe to display, without `noAnswer`: why there is no answer is shown separately. */
export function getText({ payload: { noAnswer: _, ...said } }: Pick<Envelope, 'payload'>): string {
  return printable(payloadText(said))
}

const maxQuestionChars = 120

/** Beginning of a question or run, on one line; without a text, the tool or kind. */
export function questionText(envelope: Envelope): string {
  const { kind, payload } = envelope
  const said = isWithheld(payload) ? '' : stripMarkdown(getText(envelope))
  const text = 'method' in payload ? getToolName(payload) : said
  return onOneLine(cut(text || kind, maxQuestionChars))
}

const maxNameChars = 200

/** A name from another participant, on one line. */
export const nameText = (name: string): string => onOneLine(cut(name, maxNameChars))

/** Parameters of a request or proposal, on one line; `''` if there are none. */
export function requestParametersText({ payload }: Envelope): string {
  const { params } = payload
  // For an elicitation only the message is shown, not its form.
  if (isElicitation(payload) && isObject(params))
    return onOneLine(cut(String(params.message), maxParametersChars))
  const { value } = redact(getParameters(payload), noRedaction)
  const short = shortenArguments(value)
  if (short !== undefined) return onOneLine(cut(short, maxParametersChars))
  const text = inlineJson(value, maxParametersChars)
  return text === '{}' ? '' : onOneLine(text)
}

/** The object of a call: folder and name of a path; otherwise everything is the name. */
export function splitTarget(envelope: Envelope): readonly [folder: string, name: string] {
  const args = getParameters(envelope.payload)
  const texts = isObject(args) ? Object.values(args).filter((each) => typeof each === 'string') : []
  const path = texts.find((text) => text.includes('/') && !/\s/.test(text))
  const text = shortenArguments(args) ?? path ?? (texts.length === 1 ? texts[0] : undefined)
  if (text === undefined) return ['', requestParametersText(envelope)]
  const shown = onOneLine(cut(text, maxParametersChars))
  const end = text === path ? shown.lastIndexOf('/') + 1 : 0
  return [shown.slice(0, end), shown.slice(end)]
}

/** A duration in its largest unit: `12 s`, `5 min`, `3 h`, `2 d`. */
export function ageText(milliseconds: number): string {
  const seconds = Math.max(Math.floor(milliseconds / 1000), 0)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`
}

const units = ['B', 'KB', 'MB', 'GB'] as const

/** Formats bytes: `812 B`, `1.8 MB`. */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

/** Returns a function that formats times. Callers keep it: creating a format is a thousand times slower than using it. */
const timeFormat = (
  options: Intl.DateTimeFormatOptions,
  locales?: string,
): ((at: Date | number) => string) => {
  const format = new Intl.DateTimeFormat(locales, options)
  return (at) => (Number.isNaN(Number(at)) ? 'at no time' : format.format(at))
}
const createClock = (hourCycle: 'h12' | 'h23') => ({
  hourCycle,
  minute: timeFormat(
    { hour: '2-digit', minute: '2-digit', hourCycle },
    hourCycle === 'h12' ? 'en' : undefined,
  ),
  second: timeFormat(
    { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle },
    hourCycle === 'h12' ? 'en' : 'en-GB',
  ),
  date: timeFormat({ dateStyle: 'medium', timeStyle: 'short', hourCycle }),
})
let clock = createClock('h23')

/** Sets the clock format: `h12` for am and pm, otherwise 24 hours. Returns `true` if it changed. */
export function setHourCycle(hourCycle: string): boolean {
  if (hourCycle === clock.hourCycle) return false
  clock = createClock(hourCycle === 'h12' ? 'h12' : 'h23')
  return true
}

const day = timeFormat({ day: 'numeric', month: 'short' }, 'en-GB')
const weekday = timeFormat({ weekday: 'long' }, 'en-GB')
const longDay = timeFormat({ day: 'numeric', month: 'long' }, 'en-GB')

/** Time of day, in the reader's time zone. */
export const clockText = (ts: string): string => clock.minute(new Date(ts))

/** Time of day, with the date unless it is today: `26 Nov 19:45`. */
export function whenText(ts: string, now = new Date()): string {
  const at = new Date(ts)
  return isSameDay(at, now) ? clock.minute(at) : `${day(at)}${yearText(at, now)} ${clock.minute(at)}`
}

const yearText = (at: Date, now: Date): string =>
  at.getFullYear() === now.getFullYear() || Number.isNaN(Number(at)) ? '' : ` ${at.getFullYear()}`

const isSameDay = (one: Date, other: Date): boolean => one.toDateString() === other.toDateString()

/** Whether two timestamps are on the same day in the reader's time zone. */
export const areSameDay = (one: string, other: string): boolean => isSameDay(new Date(one), new Date(other))

/** Weekday and date, such as `Thursday, 26 November`. */
export function dayText(ts: string, now = new Date()): string {
  const at = new Date(ts)
  return `${weekday(at)}, ${longDay(at)}${yearText(at, now)}`
}

/** Date and time in the reader's time zone. */
export const dateText = (ts: string): string => clock.date(new Date(ts))

/** Date and time with seconds, in the reader's time zone, such as `22 Nov 12:01:33`. */
export const momentText = (ts: string): string => {
  const at = new Date(ts)
  return `${day(at)} ${clock.second(at)}`
}

/** A number with a noun: `1 tool`, `3 tools`. */
export const countText = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`

/** A bucket from 0 to `buckets` - 1: the same for equal texts, usually different for similar ones. */
export function hashToBucket(text: string, buckets: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  return hash % buckets
}
