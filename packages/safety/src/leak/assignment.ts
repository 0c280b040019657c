import type { Span } from '../span.js'
import type { Detector } from './detector.js'
import { looksMadeUp, looksRandom } from './random.js'

/** What makes a name one of something else, as the last word before: keys of tables, caches and maps, marks of pages. */
const harmless =
  /(?:^|[^a-z])(?:by|com|over|sur|tres|old|rsa|dsa|gpg|pgp|ecdsa|pub|public|primary|foreign|sort|cache|partition|idempotency|dedup\w*|hash|commit|etag|websocket|row|range|shard|routing|group|lookup|search|index|unique|composite|object|map|hot|registry|translation|message|i18n|page|next|prev|previous|continuation|cursor|sync|resume|ssh|host|event|query|data|foreign|natural|surrogate|storage|s3|redis|metric|config|feature|flag|react|node|json|yaml|dict|enum|property|attribute)$/i

/** The name of a rule, in the mark of what was masked. */
const mark = /\[redacted:[\w-]*$/

/** Words before a key that say what it is for. */
const keyed =
  /(?:^|[^a-z])(?:api|access|account|admin|app|auth|bearer|client|deploy|encryption|hmac|jwt|licen[cs]e|master|private|refresh|secret|server|service|session|shared|signing|vault|webhook)$/i

/** Behind the name: which of several it is. */
const suffix = /(?:[_-]?\d{1,2}|[_-](?:prod|production|dev|test|staging|live|old|new|base|value))?(?!\w)/iy

/** What closes a name, as it stands in code: a quote, a bracket, marks of Markdown. */
const closing = /\\{0,2}["'`]?\]?\)?[*`]{0,2}/y

/** Where the words around it say less, a value has at least so many characters. */
const weak = 16

/** How a value follows a name on the same line; each with the characters that a value must have there. */
const joints: readonly (readonly [pattern: RegExp, least: number])[] = [
  // `name: string = "…"`, `name := …`, `name => …`
  [/[ \t]*(?:=>|:=|->|→|!?={1,3}|:(?:[ \t]*[\w.<>[\]]+[ \t]*=(?!=))?)[ \t]*/y, 12],
  // `{"name": "token", "value": "…"}`, `- name: TOKEN` and `value: …` on the next line
  [/[ \t]*,?\s{0,40}\\{0,2}["']?value\\{0,2}["']?[ \t]*[:=][ \t]*/iy, 12],
  // `setToken("…")`, `("token", "…")`, `<token>…</token>`, `| token | …`
  [/[ \t]*\([ \t]*(?=["'`])|[ \t]*,[ \t]*(?=\\{0,2}["'`])|>|[ \t]*\|[ \t]*/y, 12],
  [/[ \t]+(?:for|of|to|from|on|in|at)[ \t]+[^\n:=.]{1,40}?(?:[ \t]+(?:is|was)|[ \t]*[:=→])[ \t]+/iy, weak],
  [/[ \t]+(?:is|was|are|to|as|will be|lautet|ist|est|es)(?:[ \t]+now)?:?[ \t]+/iy, weak],
  [/[ \t]+[-–—][ \t]+|[ \t]+|-/y, weak],
]

/** What may stand around a value in code, before its quote. */
const opening = /(?:new[ \t]+)?(?:[A-Za-z]\w*(?:\.|::))*[A-Za-z]\w*\((?=["'`])|[brfu](?=["'`])/y
const scheme = /(?:Bearer|Basic|Token|Bot|ApiKey|Key)[ \t]+/iy
const quote = /\\{0,2}["'`]|\*{0,2}`|\*{2}/y
/** Longer ones begin like this. */
const longest = 512
const unquoted = new RegExp(`[^\\s"'\`,;(){}[\\]<>|&\\\\*]{1,${longest}}`, 'y')

/** Of a commit or a public key. */
const fingerprint = /^[\da-f]{40}$/i

/** What ends the names of one kind of secret, and what such a secret looks like behind such a joint. */
interface Kind {
  readonly name: string
  readonly words: readonly string[]
  readonly isSecret: (value: string, least: number, isBareKey: boolean) => boolean
}

const keys: Kind = {
  name: 'credential',
  words: ['key', 'token', 'secret', 'credential', 'credentials', 'pat', 'auth', 'authorization', 'bearer'],
  isSecret: (value, least, isBareKey) =>
    isBareKey
      ? !/[^A-Za-z0-9].*[^A-Za-z0-9=]/.test(value) && looksRandom(value, { least: 20, allowsUuid: false })
      : looksRandom(value, { least, allowsUuid: least < weak }) && !(least >= weak && fingerprint.test(value)),
}

const passwords: Kind = {
  name: 'password',
  words: [
    'pass',
    'password',
    'passwd',
    'passwort',
    'passphrase',
    'passcode',
    'pwd',
    'psk',
    'kennwort',
    'senha',
    'wachtwoord',
  ],
  isSecret: (value, least) => least < weak && looksMadeUp(value),
}

/** Where a name says that what stands behind it is secret, and that looks as if it were. */
export const assignments: readonly Detector[] = [keys, passwords].map(({ name, words, isSecret }) => ({
  name,
  action: 'mask',
  words,
  find(text, found, isWanted) {
    const secrets: Span[] = []
    for (const { start, end } of found) {
      const secret = secretBehind(text, start, end, isSecret)
      if (secret === undefined || secret.start < (secrets.at(-1)?.end ?? 0)) continue
      if (isWanted({ start, end: secret.end })) secrets.push(secret)
    }
    return secrets
  },
}))

function secretBehind(
  text: string,
  start: number,
  end: number,
  isSecret: Kind['isSecret'],
): Span | undefined {
  const afterName = match(suffix, text, end)
  if (afterName === undefined) return undefined
  const name = nameBefore(text, start).replace(/[_.\s-]+$/, '')
  if (
    harmless.test(name) ||
    harmless.test(name.replace(/([a-z\d])([A-Z])/g, '$1_$2')) ||
    mark.test(text.slice(Math.max(0, start - 48), start))
  )
    return undefined
  const closed = match(closing, text, afterName) ?? afterName
  const isBareKey =
    /^key$/i.test(text.slice(start, end)) &&
    !/[\w.-]$/.test(text.slice(0, start).slice(-1)) &&
    !keyed.test(name)
  for (const [joint, least] of joints) {
    const at = match(joint, text, closed)
    const value = at === undefined ? undefined : valueAt(text, at)
    if (value !== undefined && isSecret(text.slice(value.start, value.end), least, isBareKey)) return value
  }
  return undefined
}

/** The beginning of the name that ends in a word: `stripe_api_` of `stripe_api_key`, `next page ` of `next page token`. */
function nameBefore(text: string, start: number): string {
  const before = text.slice(Math.max(0, start - 48), start)
  return /(?:[\w$.-]+ ?)?$/.exec(before)?.[0] ?? ''
}

function valueAt(text: string, from: number): Span | undefined {
  let at = match(opening, text, from) ?? from
  const inner = match(quote, text, at)
  const opened = inner === undefined ? '' : text.slice(at, inner)
  at = inner ?? at
  at = match(scheme, text, at) ?? at
  if (opened !== '') {
    const length = text.slice(at, at + longest).indexOf(opened)
    if (length > 0)
      return /\s/.test(text.slice(at, at + length)) ? undefined : { start: at, end: at + length }
  }
  const end = match(unquoted, text, at)
  if (end === undefined) return undefined
  const said = text.slice(at, end).replace(/[.:!?]+$/, '')
  return { start: at, end: at + said.length }
}

/** Where a sticky expression ends that matches at a place. */
function match(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
