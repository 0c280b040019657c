/** Criteria for a value that looks randomly generated, in contrast to words, names, paths, versions and dates. */
export interface Randomness {
  /** Minimum characters of the value. */
  readonly least: number
  /** Whether a UUID counts as random. If a name is the only evidence, a UUID is more likely an id. */
  readonly allowsUuid: boolean
}

const printable = /^[!-~]+$/
const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i
const hex = /^(?:[\da-f]+|[\dA-F]+)$/
const minHexChars = 24
const minPartChars = 14
/** Minimum changes between letters, digits and signs per character; words have fewer. */
const changesPerChar = 0.45
const oneRun = /^[a-z\d]+$/i
const oneCase = /^(?:[a-z]+|[A-Z]+)$/
/** Matches base64 that begins like a path: mixed case, with padding or a sign that is rare in paths. */
const slashedBase64 =
  /^\/(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?:[A-Za-z\d+/]{26,}={1,2}|[A-Za-z\d/]*\+[A-Za-z\d+/]{10,})$/
const base32 = /^[A-Z2-7]{16,}$/
/** Matches paths, addresses, dates, versions, digests, names of cloud resources, calls and placeholders. */
const known =
  /^(?:[./~]|@[\w-]+\/|[a-z]:\\|[a-z][a-z\d+.-]*:\/\/|arn:|urn:|sha(?:1|256|384|512)[-:]|md5:|v?(?:\d+:)?\d+\.\d+[\w.+~-]*$|\d{4}-\d\d-\d\d|[\w.+-]+@[\w-]+\.[a-z]|ssh-(?:rsa|ed25519)|0x[\da-f]{1,16}$|\w+:\w+:\w)|^[([{<]|^[\w.$]*[([{<].*[\])}>]$|\/[\w-]+\.[a-z]\w{0,4}$/i
/** Matches a file, a host or a property access. */
const dotted = /^(?:[\w-]+\.)+[a-z]{2,5}$|^[a-z_]\w*(?:\.[a-z_]\w*)+$/i

/** Maximum characters of a value that are examined. */
const maxBodyChars = 128

/** Whether a value looks randomly generated. */
export function looksRandom(value: string, { least, allowsUuid }: Randomness): boolean {
  const body = value.slice(0, maxBodyChars).replace(/^base64:|={1,2}$/g, '')
  if (body.length < least || !printable.test(body)) return false
  if (known.test(body) && !slashedBase64.test(value)) return false
  if (uuid.test(body)) return allowsUuid
  if (isPlaceholder(body)) return false
  if (dotted.test(body)) {
    const parts = { least: Math.max(least, minPartChars), allowsUuid: false }
    return body.split('.').some((part) => looksRandom(part, parts))
  }
  const digits = count(body, /\d/g)
  if (digits === body.length) return false
  if (base32.test(body) && digits >= 2) return true
  if (hex.test(body)) return body.length >= Math.max(least, minHexChars) && digits >= 4
  const changes = changesIn(body)
  if (changes < body.length * changesPerChar && isWordlike(body)) return false
  if (oneCase.test(body)) return body.length >= 16
  if (digits < 2)
    return changes >= body.length * (body.length < 20 ? changesPerChar : 1 / 3) && body.length >= 16
  return changes >= body.length / 6 || oneRun.test(body)
}

/** Whether a text may be the beginning of a random value. Weaker evidence than `looksRandom`. */
export const looksBegun = (value: string): boolean =>
  value.length >= 8 &&
  printable.test(value) &&
  !known.test(value) &&
  !isPlaceholder(value) &&
  (/\d/.test(value) ? /[A-Za-z]/.test(value) : value.length >= 12 && !isWordlike(value))

/** Matches a word with a number: `tundra33531`, `MyTundraIsHeron6`, but not `base64`. */
const wordAndNumber =
  /^(?!.*(?:[Pp]ass|[Ss]ecret|[Cc]onfig|[Nn]ame|[Uu]ser|[Kk]ey|[Tt]oken|[Aa]uth))(?:(?:[A-Z]?[a-z]{2,12}){1,3}\d{4,6}|(?:[A-Z][a-z]{1,9}){4,}\d{1,4})$/
const path = /\w{3}\/\w{3}/

const oddity = /\d|[!@#$%^&*+=?~][A-Za-z0-9]|[A-Z][a-z][A-Z]|[a-z][A-Z]{2,}[a-z]/
/** Matches identifiers in code: `Sha256Digest`, `user2`, `v2_config`. */
const identifier = /^[A-Za-z_]?[a-z]*(?:[A-Z][a-z]+|_[a-z]+)*\d{0,3}(?:[A-Z][a-z]+|_[a-z]+)*\d{0,2}$/

/** Matches joined words, which people choose as a password: `tundra-heron-maple`. */
const phrase =
  /^(?!.*(?<![a-z])(?:pass|password|secret|config|name|user|key)(?![a-z]))[a-z]{4,12}(?:([_.-])[a-z]{4,12})(?:\1[a-z]{4,12})+$/

/** Maximum characters of a secret that people would type. */
const maxTypedChars = 128

/** Whether a value may be chosen by a person: words with something unusual in between. */
export function looksMadeUp(value: string): boolean {
  if (value.length < 8 || value.length > maxTypedChars) return false
  if (phrase.test(value) || wordAndNumber.test(value)) return true
  if (!printable.test(value) || known.test(value)) return false
  if (isPlaceholder(value) || uuid.test(value) || value.includes('|')) return false
  if (path.test(value) || (dotted.test(value) && count(value, /\d/g) < 2)) return false
  if (count(value, /[A-Za-z]/g) < 3) return false
  if (/^[a-z]{12,}$/.test(value)) return !isWordlike(value)
  if (!oddity.test(value.slice(1))) return false
  return !identifier.test(value) || (/\d/.test(value) && !isWordlike(value.replace(/[\d_]/g, '')))
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Whether the letters of a text follow each other like those of words. */
function isWordlike(text: string): boolean {
  let [sum, pairs] = [0, 0]
  for (const run of text.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? []) {
    const letters = run.toLowerCase()
    for (let at = 1; at < letters.length; at++) {
      sum += Number(followers[letters.charCodeAt(at - 1) - codeA]?.[letters.charCodeAt(at) - codeA])
      pairs++
    }
  }
  return pairs >= Math.max(minPairs, text.length * minPairsPerChar) && sum >= pairs * minWordScore
}

const codeA = 97
/** Minimum number of letter pairs for distinguishing words from random letters, in all and per character of the value. */
const minPairs = 4
const minPairsPerChar = 0.2
/** Minimum average score of the letter pairs in words; random letters rarely reach it. */
const minWordScore = 5
/**
 * Scores of letter pairs: for each letter, how often each of `a` to `z` follows it in words. 5 = as often as in random text;
 * each step more or less = twice or half as often. Counted over the 3,644 words that occur 20 times or more in the
 * documentation of npm packages.
 */
const followers = [
  '05650250513756050767432241',
  '73217200641821620563600030',
  '70407006505510800637500030',
  '63358330711512600561530030',
  '52674440210557243775042520',
  '60207610800602700545500050',
  '61008156700546520663610012',
  '70128000701032700536500030',
  '54655550002558740466050204',
  '60308000500000650384546000',
  '52348430700205440272304000',
  '62258211701600630155531060',
  '75228010720350671050510000',
  '61666471503314530177440020',
  '34552340313568450755655220',
  '71137013501621660746500020',
  '00000000000400040404904000',
  '72448340704254620565442050',
  '50617315603322560267612040',
  '61418106800410620665402050',
  '55546340500667250767200100',
  '72009020700001500030100000',
  '70037026703406700663004000',
  '60607004630040480008000230',
  '54506320600556680375004000',
  '70009000733400600000400053',
]

/** Matches secrets chosen for typing: letters mixed with digits or signs, unlike words of a sentence. */
const typed =
  /^(?!.*(?:__|--))(?=(?:.*[A-Za-z]){3})(?:(?=(?:.*[a-z]){2})(?=(?:.*\d){2})(?:.*[!@#$%^&*+=?~].*|.*[a-z][-_]\d{2,4}$)|.*[A-Za-z]\d[A-Za-z].*|.*\d.*[!@#$%^*].*|.*[!@#$%^*].*\d.*)/

const mixed = /^(?=(?:.*[A-Za-z]){3})(?=.*\d)[!-~]{8,128}$(?<!\..*)/

/** Whether a value was probably chosen by a person as a secret, even if there is little other evidence. */
export const looksTyped = (value: string): boolean =>
  value.length <= maxTypedChars &&
  ((typed.test(value) && looksMadeUp(value)) ||
    (mixed.test(value) && changesIn(value) >= value.length * changesPerChar) ||
    (/^[a-z]{5,}\d{3,6}$/.test(value) && !isWordlike(value)) ||
    (phrase.test(value) && value.length >= 20) ||
    looksRandom(value, { least: 12, allowsUuid: false }))

/** Matches words of sentences that passphrases do not contain. */
const stopWords =
  /(?<!\w)(?:about|after|again|been|before|cannot|change|confirm|correct|created|does|empty|enter|expired|field|first|forgot\w*|from|have|hidden|incorrect|input|invalid|least|login|match|missing|must|name|need|never|only|password\w*|passphrase|please|provided|repeat|require\w*|reset|should|show|that|their|them|then|this|type|user|username|valid|value|verify|were|when|which|will|with|wrong|your)(?!\w)/

/** Matches words in lower case: `correct horse battery staple`. */
const words = /^[a-z]{3,10}(?: [a-z]{3,10}){2,23}$/

export const isPhrase = (value: string): boolean => words.test(value) && !stopWords.test(value)

/** Counts the changes between small letters, capitals, digits and signs. */
const changesIn = (text: string): number => count(text, /[a-z]+|[A-Z]+|\d+|[^A-Za-z\d]+/g) - 1

/** Matches words that mark a value as an example. */
const placeholderWords =
  /example|sample|dummy|placeholder|change[-_]?(?:me|it|this)|redacted|removed|hidden|insert|replace|your[-_ ]|my[-_](?:secret|password|token|key)|foobar|to-?do\b/i
const named = /^(?:none|null|nil|undefined|true|false|empty|unset|optional|required|string|text|bytes)$/i
/** Matches templates: `<key>`, `${KEY}`, `$KEY`, `$key`, `$(key)`, `{{ key }}`, `%KEY%`, `%s`, `[key]`. */
const template = /^(?:<|\[|\{|\$[{(]|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)$|%\w+%$|%[a-z]$)/
/** Matches references: `process.env.KEY`, `config.key`, `getKey()`, but not long ones with digits, which are tokens. */
const reference =
  /^(?!(?=.{20})(?:.*\d){2}|.*(?=\w{16})\w*\d|.*\d{3})(?:[a-z_]\w*(?:\.|->|::))+[a-z_]+(?:[([].*)?$|^[a-z_]\w*\(.*$/is
/** Matches fillers: `xxxx`, `****`, `12345678`. */
const filler = /^(.)\1*$|^[x*.•#_-]+$|^(?:12345678?9?0?|abcdef\w{0,2}|\.\.\.)$/i

/** Matches words that describe a password rather than being one: `your-password`, `none`, `stdin`. */
const passwordWords =
  /^(?:(?:db|your|my|the|some|user|root|admin)?[-_ ]?(?:pass(?:word|wd|phrase|code)?|pwd|pw|secret|token|key|credentials?)\d?|user(?:name)?|login|example|sample|dummy|placeholder|redacted|removed|hidden|none|null|nil|undefined|true|false|yes|no|on|off|empty|unset|optional|required|string|text|bytes|value|prompt|ask|stdin|file|env|vault|default|xxx+)$/i

/** Whether a value after a password label may be a password, however weak: `letmein`, `changeme`. */
export const mayBePassword = (value: string): boolean =>
  !passwordWords.test(value) &&
  !template.test(value) &&
  !reference.test(value) &&
  !filler.test(value) &&
  !/^(?:your|my|the)[-_]|placeholder|redacted|^v?\d+(?:\.\d+)+|^\d{1,5}$|[-_.](?:pass(?:word)?|secret)$/i.test(
    value,
  )

/** Returns `true` for values that examples have in place of a secret: `<token>`, `process.env.KEY`, `changeme`, `xxxx`. */
export const isPlaceholder = (value: string): boolean =>
  placeholderWords.test(value) ||
  named.test(value) ||
  template.test(value) ||
  reference.test(value) ||
  filler.test(value)
