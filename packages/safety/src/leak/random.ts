import { isPlaceholder } from './placeholder.js'

/** How a value looks that nobody chose: what tells it from words, names, paths, versions and dates. */
export interface Randomness {
  /** Characters that it has at least. */
  readonly least: number
  /** Whether a UUID counts: where nothing but its name speaks for it, it is an id of something. */
  readonly allowsUuid: boolean
}

const printable = /^[!-~]+$/
const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i
const hex = /^(?:[\da-f]+|[\dA-F]+)$/
const leastOfHex = 32
const base32 = /^[A-Z2-7]{16,}$/
/** Paths, addresses, dates, versions, digests, names of things in clouds, calls and what stands for a value. */
const known =
  /^(?:[./~@]|[a-z]:\\|[a-z][a-z\d+.-]*:\/\/|arn:|urn:|sha(?:1|256|384|512)[-:]|md5:|v?\d+\.\d+[\w.+-]*$|\d{4}-\d\d-\d\d|[\w.+-]+@[\w-]+\.[a-z]|ssh-(?:rsa|ed25519)|0x[\da-f]{1,16}$|\w+:\w+:\w)|[([{<]|[\])}>]$|\/[\w-]+\.[a-z]\w{0,4}$/i
/** A file, a host or a property of something. */
const dotted = /^(?:[\w-]+\.)+[a-z]{2,5}$|^[a-z_]\w*(?:\.[a-z_]\w*)+$/i

/** Whether a value looks as if it were drawn at random. */
export function looksRandom(value: string, { least, allowsUuid }: Randomness): boolean {
  const body = value.replace(/^base64:|={1,2}$/g, '')
  if (body.length < least || !printable.test(body) || known.test(body)) return false
  if (uuid.test(body)) return allowsUuid
  if (isPlaceholder(body) || dotted.test(body)) return false
  const digits = count(body, /\d/g)
  if (digits === body.length) return false
  if (base32.test(body) && digits >= 2) return true
  if (hex.test(body)) return body.length >= Math.max(least, leastOfHex) && digits >= 4
  // A path in base64 has no parts of one case that are words.
  const wordy = (body.match(/[A-Za-z][a-z]{2,}|[A-Z]{3,}/g) ?? []).filter(isWordlike).join('').length
  if (wordy > body.length / 2) return false
  const changes = changesIn(body)
  return digits >= 2 ? changes >= body.length / 6 : body.length >= 20 && changes >= body.length / 3
}

const oddity = /\d|[!@#$%^&*+=?~][A-Za-z0-9]|[A-Z][a-z][A-Z]|[a-z][A-Z]{2,}[a-z]/
/** `Sha256Digest`, `user2`, `v2_config`: names in code. */
const identifier = /^[A-Za-z_]?[a-z]*(?:[A-Z][a-z]+|_[a-z]+)*\d{0,3}(?:[A-Z][a-z]+|_[a-z]+)*\d{0,2}$/

/** Words that only stand together to be long. */
const phrase =
  /^(?!.*(?:pass|secret|config|name|user|key))[a-z]{4,12}(?:([_.-])[a-z]{4,12})(?:\1[a-z]{4,12}){2,}$/

/** Whether a value may be what somebody has made up to be known by: a word with something odd in it. */
export function looksMadeUp(value: string): boolean {
  if (phrase.test(value)) return true
  if (value.length < 8 || value.length > 128 || !printable.test(value) || known.test(value)) return false
  if (isPlaceholder(value) || dotted.test(value) || uuid.test(value) || value.includes('|')) return false
  if (!/[A-Za-z]{2}/.test(value) || !oddity.test(value.slice(1))) return false
  return !identifier.test(value) || (/\d/.test(value) && !isWordlike(value.replace(/[\d_]/g, '')))
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Neither without vowels nor with many consonants in a row, as words are. */
const isWordlike = (part: string): boolean =>
  /[aeiouy]/i.test(part) && !/[^aeiouy]{4}|[aeiou]{4}/i.test(part) && !/[jqz][^aeiouy]|[jq]$/i.test(part)

/** How often small letters, capitals, digits and signs take turns. */
function changesIn(text: string): number {
  let [changes, last] = [0, '']
  for (const character of text) {
    const kind = /[a-z]/.test(character)
      ? 'a'
      : /[A-Z]/.test(character)
        ? 'A'
        : /\d/.test(character)
          ? '0'
          : '-'
    if (last !== '' && kind !== last) changes++
    last = kind
  }
  return changes
}
