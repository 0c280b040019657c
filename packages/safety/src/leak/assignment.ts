// Finds secrets by their names: values that look secret next to `api_key` or `password`. How a name leads to its value:
// `assignment-values.ts`.

import { charSet, charSetExcept, findStretches, type Span } from '../spans.js'
import {
  assignedValueAt,
  minWeakValueChars,
  notationsAt,
  startOfLine,
  valuesBelow,
} from './assignment-values.js'
import { type Detector, matchAt } from './detector.js'
import { isPhrase, looksBegun, looksMadeUp, looksRandom, looksTyped } from './looks.js'

/** Matches words before a name that make it harmless: keys of tables and caches, page tokens. */
const harmless =
  /(?:^|[^a-z])(?:by|com|over|sur|tres|old|rsa|dsa|gpg|pgp|ecdsa|pub|public|publishable|primary|foreign|sort|cache|partition|idempotency|dedup\w*|hash|commit|etag|websocket|row|range|shard|lookup|index|unique|composite|object|hot|translation|message|i18n|page|next|prev|previous|continuation|cursor|sync|resume|ssh|host|fingerprint|natural|surrogate|checksum|label)$/i

/** Maximum characters of a secret's name, such as `stripe_api_key`, that are examined. */
const maxNameChars = 48

/** Matches a redaction mark up to the end of its rule's name. */
const mark = /\[redacted:[\w-]*$/

/** Matches words before `key` that make it the name of a secret. */
const keyed =
  /(?:^|[^a-z])(?:api|access|account|admin|app|auth|bearer|client|deploy|encryption|hmac|jwt|licen[cs]e|master|private|recovery|refresh|secret|server|service|session|shared|vault|webhook)$/i

/** Matches the part of a name before one of its words: `stripe_api_` of `stripe_api_key`, `page` of `next page token`. */
const beginning = /([\w$./-]*) ?$/

/** Matches the rest of a name after its last word: a number or suffix, and closing brackets, quotes or Markdown marks. */
const ending =
  /(?:[_-]?\d{1,2}|[_-](?:prod|production|dev|test|staging|live|old|new)|[ _.-]?(?:base|value)|_hex|_plain|(?<=secret)[ _-]?id|(?<=phrase)s?)?(?:\[\d*\])?(?!\w)\\{0,2}["'`]?\]?\)?[*`]{0,2}/iy

/** Letters with which no rest of a name (`ending`) begins. If one of them follows a word, the word is part of a longer word. */
const insideWords = charSet('acdefghjklmnopqrtuwxyzACDEFGHJKLMNOPQRTUWXYZ')

/** Matches separators between a value and a name that follows it. */
const reversing = /[#;|]|\/\/| as /

/**
 * Matches a value before its name: `use "…" as the name`, `echo '…' | vendor login --name-stdin`, `vendor.New("…") // the
 * name`.
 */
const reversed =
  /["'`]([^\s"'`]{8,200})["'`](?: as (?:(?:the|an?|our|my|its|your) )?[\w -]{0,40}| \| [^|\n]{1,60}--[\w -]{0,40}|[^\n"'`]{0,60}(?:#|\/\/|;)[ \t][^\n"'`]{0,24})$|\becho (?:-n )?["']?([^\s"'`|]{8,200})["']? \| $/

/** Matches the fingerprint of a commit, of a public key, or of a cache entry after its name. */
const fingerprint = /^[\da-f]{40}$|[^\da-f].*[\da-f]{40}/i

/** A value that follows the name of a secret, with properties of the notation between them. */
interface Place {
  readonly value: string
  /** Minimum characters of the value in this notation. */
  readonly least: number
  readonly isQuoted: boolean
  /** Whether the name is just `key`, without a word that says what it opens. */
  readonly isBareKey: boolean
}

/** A kind of secret: the last words of its names, and a test for its values. */
interface SecretKind {
  readonly name: string
  readonly words: readonly string[]
  /** Maximum characters of a value that are examined. */
  readonly longest: number
  /** Whether names with these words may also be harmless, such as `cache_key`. */
  readonly maybeHarmless?: boolean
  readonly isSecret: (place: Place) => boolean
}

const keys: SecretKind = {
  name: 'credential',
  longest: 512,
  words: [
    'key',
    'token',
    'secret',
    'secrets',
    'credential',
    'credentials',
    'pat',
    'auth',
    'authorization',
    'bearer',
    'seed',
    'macaroon',
    'verifier',
    'cookie',
    'encrypt',
    'salt',
  ],
  maybeHarmless: true,
  isSecret({ value, least, isBareKey }) {
    if (!isBareKey) return looksRandom(value, { least, allowsUuid: true })
    const isOne = oneRun.test(value) || longBase64.test(value) || (isMixed.test(value) && value.length >= 32)
    return isOne && !fingerprint.test(value) && looksRandom(value, { least: 20, allowsUuid: false })
  },
}
const oneRun = /^[^A-Za-z\d]?[A-Za-z\d]+(?:[^A-Za-z\d][A-Za-z\d]*)?={0,2}$/
/** Matches values with at least three capitals, small letters and digits each. */
const isMixed = /^(?=(?:.*[a-z]){3})(?=(?:.*[A-Z]){3})(?=(?:.*\d){3})\S+$/
const longBase64 = /^(?:base64:)?[A-Za-z\d+/]{40,}={0,2}$/

const passwords: SecretKind = {
  name: 'password',
  longest: 160,
  words: [
    'pass',
    'password',
    'passwd',
    'passwort',
    'passphrase',
    'pass_phrase',
    'pass-phrase',
    'passcode',
    'pwd',
    'pw',
    'psw',
    'contraseña',
    'clave',
    'mot de passe',
    'mdp',
    'hasło',
    'heslo',
    'пароль',
    'parola',
    'lösenord',
    'passord',
    'salasana',
    'jelszó',
    'şifre',
    '密码',
    '密碼',
    'パスワード',
    '비밀번호',
    'identified by',
    'sudo -s',
    'kinit',
    'cryptsetup',
    'psk',
    'kennwort',
    'senha',
    'wachtwoord',
  ],
  isSecret({ value, least, isQuoted }) {
    if (least >= minWeakValueChars && !isQuoted) return looksTyped(value)
    return value.includes(' ') ? isQuoted && isPhrase(value) : looksMadeUp(value)
  },
}

/** Secrets that people choose, which are shorter than generated ones. */
const chosenSecrets: SecretKind = {
  name: 'credential',
  longest: 160,
  words: ['secret', 'credential', 'credentials'],
  maybeHarmless: true,
  isSecret: ({ value, least, isQuoted }) =>
    least < minWeakValueChars &&
    (isQuoted || !/[-_./]/.test(value)) &&
    !/\s/.test(value) &&
    looksMadeUp(value),
}

/** Detects values that look secret next to the name of a secret. */
export const assignments: readonly Detector[] = [keys, chosenSecrets, passwords].map((kind) => ({
  name: kind.name,
  action: 'mask',
  words: kind.words,
  isLabelled: true,
  find(text, found, { isWanted, isCut, seam = text.length }) {
    const secrets: Span[] = []
    for (const word of found) {
      if (insideWords[text.charCodeAt(word.end)] === 1) continue
      const closed = matchAt(ending, text, word.end)
      if (closed === undefined) continue
      const before = text.slice(Math.max(0, word.start - maxNameChars), word.start)
      const isBehind = mayHoldValue(text, closed)
      const isReversed = reversing.test(before)
      if (!isBehind && !isReversed) continue
      const [part = '', name = ''] = beginning.exec(before) ?? []
      const start = word.start - part.length
      if (isCut && text.slice(0, start).trim() === '') continue
      if (mark.test(before) || (kind.maybeHarmless === true && isHarmless(name))) continue
      const isBareKey =
        /^key$/i.test(text.slice(word.start, word.end)) && !/[\w.-]$/.test(before) && !keyed.test(name)
      const isSecret: IsSecret = (span, least, isQuoted) => {
        const value = text.slice(span.start, span.end)
        // If the text is a piece of a stream, the value may continue in the next piece, so the beginning of a random value
        // suffices.
        const isOpen =
          span.start < seam && span.end > seam && /^[.:!?]*$/.test(text.slice(span.end, span.end + 8))
        if (isOpen && looksBegun(value) && (!isBareKey || isMixed.test(value))) return true
        return kind.isSecret({ value, least, isQuoted, isBareKey })
      }
      const behind = isBehind ? secretsBehind(text, closed, kind.longest, isSecret) : []
      const given = behind.length > 0 || !isReversed ? behind : secretsBefore(text, word.start, isSecret)
      for (const secret of given) {
        if (secret.start < (secrets.at(-1)?.end ?? 0)) continue
        // Tests the whole line, because the rest of it matters, such as other columns of a table.
        const line = startOfLine(text, start)
        const whole = { start: Math.min(line, secret.start), end: Math.max(word.end, secret.end) }
        if (isWanted(whole)) secrets.push(secret)
      }
    }
    return secrets
  },
}))

type IsSecret = (span: Span, least: number, isQuoted: boolean) => boolean

function isHarmless(name: string): boolean {
  const words = name.replace(/[_./-]+$/, '')
  return harmless.test(words) || harmless.test(words.replace(/([a-z\d])([A-Z])/g, '$1_$2'))
}

/** Characters after a name in which its value must begin. */
const lookaheadChars = 128
/** Matches the end of a sentence or clause; no value of the name follows it. */
const sentenceOver = /[;)}/]|\.(?!\w{2,10}\()|, (?!\s{0,40}(?:\\{0,2}["'`]|value))/iy
/** Minimum characters of a value without blanks, and maximum characters of a word of prose. */
const [minValueChars, maxWordChars] = [8, 15]
const visible = charSetExcept(String.fromCharCode(...Array(0x21).keys()))
/** Matches digits, signs and inner capitals, which words of prose do not have. */
const unlikeWords = /[^A-Za-z',.:;?()[\]{}\u0080-\uffff]|[a-z][A-Z]/
const endsOddly = /(?:[^A-Za-z\s',.:;?()[\]{}\u0080-\uffff]|[a-z][A-Z])\S*$/

const looksUnlikeWord = (text: string): boolean => text.length > maxWordChars || unlikeWords.test(text)

/** Whether the rest of the line, or the next line, contains a text unlike a word, which may be a value. */
function mayHoldValue(text: string, from: number): boolean {
  if (matchAt(sentenceOver, text, from) !== undefined) return false
  if (matchAt(/[ \t]*\|/y, text, from) !== undefined) return true
  const near = text.slice(from, from + lookaheadChars)
  const line = near.indexOf('\n')
  const end = line >= 0 && goesOn(text, from, from + line) ? near.indexOf('\n', line + 1) : line
  const words = findStretches(visible, minValueChars, near, 0, end < 0 ? near.length : end)
  if (words.some((word) => looksUnlikeWord(near.slice(word.start, word.end)))) return true
  // If the text ends here, its end may be the beginning of a value that the next piece of a stream continues; otherwise a
  // quoted value of several words may follow.
  return end < 0 && (near.length < lookaheadChars ? endsOddly.test(near) : near.includes('"'))
}

/** Whether the value of a name may be on the next line: below the name, or after a sign or a shell command. */
function goesOn(text: string, from: number, end: number): boolean {
  const line = text.slice(startOfLine(text, from), end)
  return /^\$ |[|;,\t]|[:>{([\\"'-]\s*$/.test(line) || text.slice(from, end).trim() === ''
}

function secretsBehind(text: string, from: number, longest: number, isSecret: IsSecret): readonly Span[] {
  for (const [notation, least] of notationsAt(text, from)) {
    const at = matchAt(notation, text, from)
    const value = at === undefined ? undefined : assignedValueAt(text, at, longest)
    if (value !== undefined && isSecret(value, least, value.isQuoted)) return [value]
  }
  return valuesBelow(text, from).filter((value) => isSecret(value, 12, false))
}

function secretsBefore(text: string, to: number, isSecret: IsSecret): readonly Span[] {
  const [, quoted, given = quoted] = reversed.exec(text.slice(Math.max(0, to - 260), to)) ?? []
  if (given === undefined || fingerprint.test(given)) return []
  const start = text.lastIndexOf(given, to)
  const value = { start, end: start + given.length }
  return isSecret(value, minWeakValueChars, true) ? [value] : []
}
