import { compilePattern } from '@meup/protocol'
import { compare } from './compare.js'

/**
 * Regular expressions that other engines choke on, against texts that almost match. The steps of a check are about twice the
 * product of both lengths: 100,000 characters exceed the budget and are refused unread.
 */
const almost = (length: number): string => `${'a'.repeat(length - 1)}!`
const long = (unit: string): string => unit.repeat(Math.floor(509 / unit.length)) // with `re:`, 512 characters

const cases: readonly (readonly [string, number])[] = [
  ['(a+)+$', 100_000],
  ['(a+)+$', 75_000],
  ['(a|a)*$', 100_000],
  ['(a|aa)+$', 100_000],
  ['([a-z]+)*$', 100_000],
  ['(.*a){20}$', 100_000],
  ['(.*a){20}$', 2500],
  ['a*a*a*a*a*a*b', 35_000],
  [long('a?'), 100_000],
  [long('a?'), 900],
  [long('(a*)'), 900],
  [long('a|'), 900],
]

await compare(
  'a pattern against a text that almost matches',
  [
    ['a glob and 100,000 characters', task('a*a**!', 100_000)],
    ...cases.map(([source, length]) => [title(source, length), task(`re:${source}`, length)] as const),
  ],
  1,
)

function task(pattern: string, length: number): () => boolean {
  const [matches, text] = [compilePattern(pattern), almost(length)]
  return () => matches(text)
}

function title(source: string, length: number): string {
  const name = source.length > 30 ? `${source.slice(0, 12)}… of ${source.length}` : source
  return `${name} and ${length.toLocaleString('en')} characters`
}
