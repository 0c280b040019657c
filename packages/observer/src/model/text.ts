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

/** The gateway has masked thoughts, and MCP is shown as sent: only secret names are considered. */
export const noRedaction: Guard = (text) => ({ text, isWithheld: false })

/** Characters of a text on one line. */
const maxLineChars = 1000

/** A text on one line without Markdown marks. Names such as `__init__` and `snake_case` stay unchanged. */
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

/** A link at the end of a Markdown text whose target, or whose text, is not there yet. */
const halfLink = /!?\[([^[\]\n]*)(?:\](?:\([^()\n]*|\[[^[\]\n]*)?)?$/

/** An unfinished Markdown text, in which the text of an incomplete link replaces the link. Code is unchanged. */
export function dropHalfLink(text: string): string {
  const isInFence = (text.match(/^ {0,3}(?:```|~~~)/gm) ?? []).length % 2 === 1
  const paragraph = text.slice(text.lastIndexOf('\n\n') + 1)
  const isInCode = (paragraph.match(/`+/g) ?? []).length % 2 === 1
  return isInFence || isInCode ? text : text.replace(halfLink, '$1')
}

/** Whether a text is unambiguously an address of this host: `https://this@that` is on `that`. */
export const namesHost = (text: string, { host, origin }: URL): boolean =>
  text === host || (text.startsWith(origin) && /^(?:[/?#]|$)/.test(text.slice(origin.length)))

const maxParametersChars = 200

/** The text of an envelope, safe to show, without its failure, which is shown separately. */
export function getText({ payload: { noAnswer: _, ...said } }: Pick<Envelope, 'payload'>): string {
  return printable(payloadText(said))
}

const maxQuestionChars = 120

/** The beginning of a question or run on one line; otherwise the tool or kind. */
export function questionText(envelope: Envelope): string {
  const { kind, payload } = envelope
  const said = isWithheld(payload) ? '' : stripMarkdown(getText(envelope))
  const text = 'method' in payload ? getToolName(payload) : said
  return onOneLine(cut(text || kind, maxQuestionChars))
}

const maxNameChars = 200

/** A name chosen by others, on one line. */
export const nameText = (name: string): string => onOneLine(cut(name, maxNameChars))

/** The parameters of a request or proposal on one line; `''` = none. */
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

/** The object of a call: of a path the folder and the name, otherwise everything as the name. */
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

/** How long ago, in its largest unit: `12 s`, `5 min`, `3 h`, `2 d`. */
export function ageText(milliseconds: number): string {
  const seconds = Math.max(Math.floor(milliseconds / 1000), 0)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`
}

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

/** Cached, because creating one takes a thousand times as long as using it. */
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
})
let clock = createClock('h23')

/** Sets how times are written: `h12` = with am and pm. Returns whether that is different. */
export function setHourCycle(hourCycle: string): boolean {
  if (hourCycle === clock.hourCycle) return false
  clock = createClock(hourCycle === 'h12' ? 'h12' : 'h23')
  return true
}

const day = timeFormat({ day: 'numeric', month: 'short' }, 'en-GB')
const weekday = timeFormat({ weekday: 'long' }, 'en-GB')
const longDay = timeFormat({ day: 'numeric', month: 'long' }, 'en-GB')

/** Hours and minutes in the reader's time zone. */
export const clockText = (ts: string): string => clock.minute(new Date(ts))

/** The same, with the day unless it is today: `26 Nov 19:45`. */
export function whenText(ts: string, now = new Date()): string {
  const at = new Date(ts)
  return isSameDay(at, now) ? clock.minute(at) : `${day(at)}${yearText(at, now)} ${clock.minute(at)}`
}

const yearText = (at: Date, now: Date): string =>
  at.getFullYear() === now.getFullYear() || Number.isNaN(Number(at)) ? '' : ` ${at.getFullYear()}`

const isSameDay = (one: Date, other: Date): boolean => one.toDateString() === other.toDateString()

/** True if two moments are on one day in the reader's time zone. */
export const areSameDay = (one: string, other: string): boolean => isSameDay(new Date(one), new Date(other))

/** `Thursday, 26 November` */
export function dayText(ts: string, now = new Date()): string {
  const at = new Date(ts)
  return `${weekday(at)}, ${longDay(at)}${yearText(at, now)}`
}

/** Date, hours and minutes in the reader's time zone. */
export const dateText = (ts: string): string =>
  new Date(ts).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short', hourCycle: clock.hourCycle })

/** Day and time to the second in the reader's time zone, such as `22 Nov 12:01:33`. */
export const momentText = (ts: string): string => {
  const at = new Date(ts)
  return `${day(at)} ${clock.second(at)}`
}

/** `1 tool`, `3 tools`. */
export const countText = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`

/** A number from 0 to `buckets` - 1, equal for equal texts and different for similar ones. */
export function hashToBucket(text: string, buckets: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  return hash % buckets
}
