import type { Value } from '../grammar.js'
import type { Random } from '../random.js'
import { familiesOf } from './family.js'

const words =
  'amber anchor autumn badger basket breeze bridge candle canyon cedar cobalt copper coral dragon ember falcon fender forest galaxy garden glacier hammer harbor harvest hunter island jasper kitten lantern lemon maple marble meadow monkey mustang nebula ocean orange orchid panther pepper phoenix planet raven ribbon river rocket saffron shadow silver sparrow spring summer sunset thunder tiger velvet walnut window winter wizard yellow'.split(
    ' ',
  )
const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)
const leet: Readonly<Record<string, string>> = { a: '@', e: '3', i: '1', o: '0', s: '$' }

/** Makes a password of a word, digits and a symbol, as people do to satisfy a password policy. */
function human(random: Random): Value {
  const word = capitalized(random.pick(words))
  const written = random.chance(0.25) ? word.replace(/[aeios]/g, (each) => leet[each] ?? each) : word
  const second = random.chance(0.3) ? capitalized(random.pick(words)) : ''
  const digits = random.chance(0.4) ? `${random.integer(1970, 2030)}` : `${random.integer(100, 99_999)}`
  const mark = random.pick(['!', '!', '#', '@', '$', '*', '?', '!!', ''])
  const text = random.chance(0.15)
    ? `${digits}${written}${second}${mark}`
    : `${written}${second}${digits}${mark}`
  return { text, secrets: [text] }
}

function passphrase(random: Random): Value {
  const text = Array.from({ length: random.integer(4, 6) }, () => random.pick(words)).join(
    random.pick(['-', '-', '.', '_']),
  )
  return { text, secrets: [text] }
}

const labels = [
  ...['admin password', 'db password', 'database password', 'smtp pass', 'root password', 'vendor password'],
  ...['user passwd', 'login password', 'ldap bind password', 'redis pass', 'ftp pwd', 'keystore password'],
] as const

export const passwords = familiesOf('password', 'password', {
  'human-password': [human, ...labels],
  'generated-password': ['{symbols:14-24}', ...labels],
  'generated-alphanumeric': ['{base62:12-20}', ...labels],
  'generated-lower-case': ['{base36:10-16}', ...labels],
  'hexadecimal-password': ['{hex:24-32}', ...labels],
  passphrase: [passphrase, 'backup passphrase', 'gpg passphrase', 'vault password', 'wifi password'],
})
