import { readdirSync, readFileSync } from 'node:fs'
import { commonWords } from '../scripts/common-words.js'
import type { Random } from './corpus/random.js'
import { disguises } from './support.js'

interface RuleData {
  readonly positives: readonly string[]
  readonly negatives: readonly string[]
  readonly keywords: readonly string[]
}
const folder = new URL('../src/rules/', import.meta.url)
const rules = readdirSync(folder).flatMap((name): RuleData[] =>
  JSON.parse(readFileSync(new URL(name, folder), 'utf8')),
)
const keywords = rules.flatMap((rule) => rule.keywords)
const examples = rules.flatMap(({ positives, negatives }) => [...positives, ...negatives])

const sentences = [
  'The test fails only when the list is empty, which suggests a missing check.',
  'That makes sense: the loop stops one element too early.',
  "I don't see why the second redirect loses the query (it worked in May).",
  'There are 3 places where the value is set, and only 1 of them is right.',
  'The token count is close to the limit, so I will keep the answer short.',
  'The password field is required\u2014the form doesn\u2019t say so.',
  'I think that we should enable password resets, and enable secret scanning.',
  'Is the machine of the login page behind HTTP or TLS? Not sure.',
  'My plan:\n1. read the code\n2. write the test\n3. make the change',
  'The username and the password are both wrong',
]
/** Labels of secrets, as in thoughts. */
const labels = [
  ...[
    'password is',
    'password:',
    'the token',
    'secret',
    'pw',
    'pass',
    'key',
    'auth',
    'login as',
    'credentials:',
  ],
  ...[
    'enable secret',
    'enable password',
    'username admin password',
    'machine host login ana password',
    'psk =',
  ],
  ...[
    'api_key=',
    'Authorization: Bearer',
    'PRIVATE KEY',
    'mot de passe',
    'bearer',
    'sk-',
    'ghp_',
    'AKIA',
    'xoxb',
  ],
  ...[
    'as the token',
    '; the key',
    'echo',
    'chpasswd',
    'System:',
    'Human:',
    '\n\nUser:',
    '### Response:',
    'ssid',
  ],
]
const markers = [
  '<think> ',
  '</think>',
  '[INST]',
  '<|im_start|>',
  '<system>',
  '`',
  '```',
  '-----BEGIN PRIVATE KEY-----',
]
const oddities = [
  '\u200b',
  '\u00e9',
  '\u201c',
  '\u2026',
  '\uff41',
  '\ud83d\ude00',
  '\uffff',
  '%41',
  '\u00a0',
  '\t',
  '\r\n',
]
const signs = [...'.,:;?!()[]{}<>"\'`|\\/=+-_*#@$%^&~', '...', '->', '//', '" + "', '\\n']
const letters = 'abcdefghijklmnopqrstuvwxyz'
const alphabets = [
  letters,
  'bcdfghjklmnpqrstvwxz',
  letters.toUpperCase(),
  `${letters}0123456789`,
  '0123456789abcdef',
]
const blanks = [' ', ' ', ' ', ' ', ' ', '', '', '\n', '\n\n', '  ', '. ', ': ', ', ', '.', ' \n', '\n  ']

/** Makes a random word of letters, which a rule may take for a secret. */
const madeUp = (random: Random): string => {
  const word = random.characters(random.pick(alphabets), random.integer(1, random.chance(0.2) ? 40 : 16))
  return random.chance(0.2) ? `${word.charAt(0).toUpperCase()}${word.slice(1)}` : word
}

const ofProse = [
  (random: Random) => random.pick(commonWords),
  (random: Random) => random.pick(commonWords),
  (random: Random) => random.pick(sentences),
  (random: Random) => random.characters(random.pick(alphabets.slice(0, 3)), random.integer(1, 15)),
  (random: Random) => random.characters('0123456789', random.integer(1, 5)),
  (random: Random) => random.pick(labels),
  (random: Random) => `${random.pick(commonWords)}${random.pick([...'.,:;?)'])}`,
  (random: Random) => `${random.pick(commonWords)}'${random.pick(['s', 't', 're', 've'])}`,
]
const ofAnything = [
  ...ofProse,
  (random: Random) => cutAnywhere(random.pick(examples), random),
  (random: Random) => random.pick(examples),
  (random: Random) => random.pick(keywords),
  (random: Random) => random.pick(markers),
  (random: Random) => random.pick(oddities),
  (random: Random) => random.pick(signs),
  madeUp,
  (random: Random) => random.pick(Object.values(disguises))(random.pick(examples).slice(0, 60)),
]

const cutAnywhere = (text: string, random: Random): string => {
  const [one, other] = [random.integer(0, text.length), random.integer(0, text.length)]
  return text.slice(Math.min(one, other), Math.max(one, other))
}

function textOf(pieces: typeof ofProse, random: Random): string {
  let text = ''
  for (let left = random.integer(1, random.chance(0.3) ? 60 : 12); left > 0; left--)
    text += random.pick(pieces)(random) + random.pick(blanks)
  return text
}

/** Makes consecutive texts of a run; some of them continue the previous text, even within a word. */
export function randomTexts(random: Random): string[] {
  const pieces = random.chance(0.85) ? ofProse : ofAnything
  const texts: string[] = []
  for (let left = random.integer(1, 4); left > 0; left--) {
    const text = textOf(random.chance(0.95) ? pieces : ofAnything, random)
    if (random.chance(0.5)) texts.push(text)
    else {
      // Limits the number of texts, because each boundary costs one more scan.
      const maximum = texts.length + (random.chance(0.03) ? 10 : 2)
      const longest = random.pick([3, 20, 60, 300])
      for (let at = 0, end = 0; at < text.length && texts.length < maximum; at = end) {
        end = texts.length === maximum - 1 ? text.length : at + random.integer(1, longest)
        texts.push(text.slice(at, end))
      }
    }
  }
  return texts
}
