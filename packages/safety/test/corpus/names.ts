import type { Random } from './random.js'

const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)
const snake = (words: readonly string[]): string => words.join('_')
const kebab = (words: readonly string[]): string => words.join('-')
const glued = (words: readonly string[]): string => words.join('')
const pascal = (words: readonly string[]): string => words.map(capitalized).join('')
const camel = ([first = '', ...others]: readonly string[]): string => first + pascal(others)

/**
 * Makes the names that notations may use for a label such as `github api token`. The first word is the owner; `short` is the
 * rest, `last` the last word.
 */
export function namesOf(label: string, random: Random): Readonly<Record<string, string>> {
  const [owner = '', ...rest] = label.split(' ')
  const owners = owner === 'vendor' ? madeUpVendor(random) : [owner]
  const words = [...owners, ...rest]
  const last = rest.at(-1) ?? owner
  return {
    NAME: snake(words).toUpperCase(),
    snake: snake(words),
    camel: camel(words),
    Pascal: pascal(words),
    kebab: kebab(words),
    glued: glued(words),
    dotted: words.join('.'),
    any: random.pick([snake, camel, pascal, kebab, glued])(words),
    Header: words.map(capitalized).join('-'),
    words: words.join(' '),
    Words: words.map(capitalized).join(' '),
    owner: glued(owners),
    Owner: pascal(owners),
    SHORT: snake(rest).toUpperCase(),
    short: snake(rest),
    shortCamel: camel(rest),
    ShortPascal: pascal(rest),
    shortKebab: kebab(rest),
    shortWords: rest.join(' '),
    last,
    Last: capitalized(last),
    LAST: last.toUpperCase(),
  }
}

const consonants = 'bcdfghklmnprstvz'
const vowels = 'aeiou'

/** Invents the name of a vendor: one word, sometimes two. */
function madeUpVendor(random: Random): string[] {
  const syllable = (): string => random.characters(consonants, 1) + random.characters(vowels, 1)
  const ending = (): string => random.pick(['n', 'x', 'r', 'ly', 'io', 'ta', 'ss', ''])
  const word = (): string => `${syllable()}${syllable()}${random.chance(0.5) ? syllable() : ''}${ending()}`
  return random.chance(0.2) ? [word(), random.pick(['pay', 'mail', 'cloud', 'maps', 'sms', 'crm'])] : [word()]
}
