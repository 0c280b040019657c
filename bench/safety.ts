import { compileSafety, defaultSafety } from '@meup/safety'
import { compare } from './compare.js'

/** What it costs to guard a text. */
const { guard } = compileSafety(defaultSafety)
const size = 16 * 1024
const fill = (unit: string): string => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)

const thought =
  'The change is small, and the test report decides: 212 tests pass and one fails, in the module that reads tokens. ' +
  'I look at that module first, then at the load test, because the last deployment failed for want of memory.'

const texts: readonly (readonly [string, string])[] = [
  ['a thought of 200 characters', thought],
  ['16 KB of prose', fill(`${thought}\n`)],
  ['16 KB of keywords', fill('password token secret api_key bearer akia ghp_ sk- ')],
  ['16 KB of labels without an end', fill('password=')],
  ['16 KB of one letter', fill('a')],
  ['16 KB of base64', fill(Buffer.from(thought).toString('base64').replaceAll('=', ''))],
  ['16 KB of percent signs', fill('%41%')],
  ['16 KB of key headers', fill('-----BEGIN PRIVATE KEY-----\n')],
  ['16 KB of zero-width characters', fill('a\u200b')],
  ['16 KB of broken lines', fill('ab\\\n')],
  ['16 KB of dots and colons', fill('postgres://a:b@')],
]

await compare(
  'a text through the safety gate',
  texts.map(([name, text]) => [name, () => guard(text)] as const),
  1,
)
