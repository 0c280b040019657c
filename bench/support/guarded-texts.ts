import { readdirSync, readFileSync } from 'node:fs'
import { builtInRules } from '@meup/safety'

const maximum = 16 * 1024
const fill = (unit: string, size = maximum): string =>
  unit.repeat(Math.ceil(size / unit.length)).slice(0, size)

const thought =
  'The change is small, and the test report decides: 212 tests pass and one fails, in the module that reads tokens. ' +
  'I look at that module first, then at the load test, because the last deployment failed for want of memory.'

/** The keywords of all rules. Each occurrence makes its rules examine the text around it. */
const keywords = [...new Set(builtInRules.flatMap(({ keywords = [] }) => keywords))]
export const densestText = fill(
  keywords.toSorted((a, b) => a.length - b.length || (a < b ? 1 : -1)).join('="'),
)

/** Examples of secrets from the files of the rules. */
const folder = new URL('../../packages/safety/src/rules/', import.meta.url)
const secrets = readdirSync(folder).flatMap((name) =>
  (JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { positives: string[] }[]).flatMap(
    ({ positives }) => positives,
  ),
)

const wide = (text: string): string =>
  text.replace(/[!-~]/g, (each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0))

/** Texts with their names. */
type Texts = readonly (readonly [name: string, text: string])[]

export const plainTexts: Texts = [
  ['a thought of 200 characters', thought],
  ['300 B of prose', fill(`${thought}\n`, 300)],
  ['1 KiB of prose', fill(`${thought}\n`, 1024)],
  ['8 KiB of prose', fill(`${thought}\n`, 8 * 1024)],
  ['16 KiB of prose', fill(`${thought}\n`)],
]

/** The texts that take the guard longest. */
export const worstTexts: Texts = [
  ['16 KB of keywords', fill('password token secret api_key bearer akia ghp_ sk- ')],
  ['16 KB of the keywords of all rules', densestText],
  ['16 KB of them, each with a value', fill(keywords.join('=a1B2c3'))],
  ['16 KB of them, one after the other', fill(keywords.join(''))],
  ['16 KB of them, in full width', wide(densestText)],
  [
    '16 KB of them, with characters that are not seen',
    densestText.replace(/.{400}/g, '$&\u200b').slice(0, maximum),
  ],
  ['16 KB of secrets in lines', fill(secrets.join('\n'))],
  ['16 KB of secrets that are cut', fill(secrets.map((text) => text.slice(0, text.length * 0.8)).join(' '))],
  ['16 KB of secrets without a blank', fill(secrets.join('').replace(/\s/g, ''))],
  ['16 KB of secrets in base64', fill(Buffer.from(secrets.join(' ')).toString('base64'))],
  ['16 KB of labels without an end', fill('password=')],
  ['16 KB of the shortest label', fill('pw=')],
  ['16 KB of tokens in tokens', fill('eyJ')],
  ['16 KB of connections', fill('server=a;user=b;')],
  ['16 KB of one letter', fill('a')],
  ['16 KB of base64', fill(Buffer.from(thought).toString('base64').replaceAll('=', ''))],
  ['16 KB of percent signs', fill('%41%')],
  ['16 KB of key headers', fill('-----BEGIN PRIVATE KEY-----\n')],
  ['16 KB of zero-width characters', fill('a\u200b')],
  ['16 KB of broken lines', fill('ab\\\n')],
  ['16 KB of dots and colons', fill('postgres://a:b@')],
]
