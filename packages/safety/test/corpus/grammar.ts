import type { Random } from './random.js'

/** A value, and the parts of it that are secret. */
export interface Value {
  readonly text: string
  readonly secrets: readonly string[]
}

const digits = '0123456789'
const lower = 'abcdefghijklmnopqrstuvwxyz'
const upper = lower.toUpperCase()
const base62 = digits + upper + lower

/**
 * Characters by alphabet. None of them has quotes, backslashes, braces or angle brackets, which notations would have to escape.
 */
const alphabets: Readonly<Record<string, string>> = {
  digits,
  lower,
  upper,
  base62,
  hex: `${digits}abcdef`,
  HEX: `${digits}ABCDEF`,
  base36: digits + lower,
  BASE36: digits + upper,
  base32: `${upper}234567`,
  crockford: '0123456789abcdefghjkmnpqrstvwxyz',
  base64: `${base62}+/`,
  url: `${base62}-_`,
  symbols: `${base62}${base62}!#$%&*+-=?@^_~`,
  userinfo: `${base62}${base62}-_.!*`,
}

const token = /([{<])(\w+)(?::(\d+)(?:-(\d+))?)?[}>]/g

/**
 * Expands a template. `{base62:36}` draws 36 characters that are secret; `<hex:8-12>` draws 8 to 12 that are not, such as an
 * identifier. `{uuid}` and `<uuid>` draw a UUID. Everything else stays as it is.
 */
export function draw(template: string, random: Random): Value {
  const secrets: string[] = []
  const text = template.replace(
    token,
    (whole, opening: string, name: string, least?: string, maximum = least) => {
      const drawn = drawToken(name, least, maximum, random)
      if (drawn === undefined) return whole
      if (opening === '{') secrets.push(drawn)
      return drawn
    },
  )
  return { text, secrets }
}

function drawToken(
  name: string,
  least: string | undefined,
  maximum: string | undefined,
  random: Random,
): string | undefined {
  if (name === 'uuid') return uuid(random)
  if (least === undefined) return undefined
  const alphabet = alphabets[name]
  if (alphabet === undefined) throw new Error(`There is no alphabet ${name}.`)
  return random.characters(alphabet, random.integer(Number(least), Number(maximum)))
}

function uuid(random: Random): string {
  const hex = (count: number): string => random.characters(alphabets.hex ?? '', count)
  return [hex(8), hex(4), `4${hex(3)}`, `${random.pick(['8', '9', 'a', 'b'])}${hex(3)}`, hex(12)].join('-')
}
