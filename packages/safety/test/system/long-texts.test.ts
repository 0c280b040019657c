import { builtInRules, tailOf } from '@meup/safety'
import { describe, expect, test } from 'vitest'
import { times } from '../../../../test/support/soak.js'
import { gate, percent, token } from '../support.js'

describe('what a text takes grows with its length, and no faster', () => {
  const [short, long] = [times(500, 3000), times(8000, 48_000)]
  const { guard } = gate({ maxLength: 1_000_000 })
  const { guard: withhold } = gate({
    onLeak: 'block',
    policy: [{ name: 'own', pattern: 'a+b', action: 'review' }],
  })
  const words = [...new Set(builtInRules.flatMap(({ keywords = [] }) => keywords))]
  const units = {
    'the words of all rules': words.join('="'),
    'the words of all rules, with values': words.join('=a1B2c3'),
    'the words of all rules, one after the other': words.join(''),
    'labels of what may go on for ever': 'pw=',
    'labels that each may be the value of the one before': 'password=aB1',
    'tokens in tokens': 'eyJhbGciOi',
    'beginnings of tokens': 'glpat-',
    'beginnings of other tokens': 'xoxb-1',
    'settings of connections': 'server=a;user=b;',
    'credentials without an end': 'secret_key=api_token=',
    'labels and blanks': `api_key${' '.repeat(300)}`,
    prose: 'so it goes on and on, with a token, a key and a password. ',
    'one word': 'a',
    digits: '0123456789',
    blanks: ' ',
    'line ends': '\n',
    'words in lines': 'word1\nword2 \\\n',
    'quotes that are joined': '" + "',
    'quotes that are not': '"     ',
    labels: 'phrase=phrase: ',
    placeholders: 'phrase: <yours> ',
    'what begins as a secret': 'Zk_aB3dE5 zl-4fG6 zdb://ana: ',
    secrets: `${token} ${long} `,
    'secrets in lines': `${token}\n`,
    'secrets in percent': `${percent(token)} `,
    'secrets in base64': `${btoa(token)} `,
    'percent of no character': '%ff ',
    'base64 of base64': btoa(btoa('so it goes on')),
    'zero-width spaces': 'a\u200b',
    'full width': 'ａ',
    accents: 'é',
    marks: '[redacted:own-token] ',
    'begun marks': '[redacted:',
    'headers of keys': '-----BEGIN RSA PRIVATE KEY-----\n',
    tokens: 'eyJhbGciOi.',
    tags: '<system ',
    markers: '<|im_start|>[INST]\n\nHuman:',
    'begun markers': '<|<<[/</',
    roles: '    Human',
    joiners: '\u200d',
    'different things': `x%41 ${btoa('so it goes on')} a\u200bb foo1\nbar2 phrase: hunter22 `,
  }

  test.for(Object.entries(units))('%s', ([, unit]) => {
    const cpuOf = (length: number): number => {
      const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
      const start = process.cpuUsage()
      guard(text, tailOf('', text))
      withhold(text)
      const { user, system } = process.cpuUsage(start)
      return user + system
    }
    // The long text takes sixteen times the work; if time were quadratic, 256 times. Repeats, because other processes may
    // disturb a measurement.
    const ofShort = Math.max(100, Math.min(cpuOf(short), cpuOf(short), cpuOf(short)))
    let ratio = Number.POSITIVE_INFINITY
    for (let tries = 0; tries < 3 && ratio >= 80; tries++) ratio = Math.min(ratio, cpuOf(long) / ofShort)
    expect(ratio).toBeLessThan(80)
  })
})
