import { type Safety, type Tail, tailOf } from '@meup/safety'
import { describe, expect, test } from 'vitest'
import { disguises, gate, long, seen, token } from './support.js'

const safety = gate()

/** Guards consecutive texts of a run. */
function sayAll(texts: readonly string[], { guard }: Safety = safety): string[] {
  let before: Tail | string = ''
  return texts.map((text) => {
    const guarded = seen(guard(text, before))
    before = tailOf(before, text)
    return guarded
  })
}

const cuts = (text: string): number[] => Array.from(text.slice(1), (_, index) => index + 1)

describe('of a secret that is split over two texts, the second part is masked', () => {
  test.for(Object.entries(disguises))('%s, wherever it is split', ([, disguise]) => {
    const secret = disguise(token)
    for (const cut of cuts(secret)) {
      const [, second] = sayAll([`see ${secret.slice(0, cut)}`, `${secret.slice(cut)} here`])
      expect(second).toBe('[redacted:own-token] here')
    }
  })

  test('and the first one too, where it was enough to tell', () => {
    expect(sayAll([`see ${long.slice(0, 30)}`, `${long.slice(30)} here`])).toEqual([
      'see [redacted:own-long]',
      '[redacted:own-long] here',
    ])
  })

  test.for([
    ['a label', 'it is phrase: ', 'hunter22abc', ' and that is it', 'own-phrase'],
    ['an address', 'open zdb://ana:', 'hunter22abc', '@db.example/x', 'own-address'],
  ] as const)('with what tells it: %s', ([, start, secret, end, rule]) => {
    for (const cut of cuts(start)) {
      const parts = [start.slice(0, cut), `${start.slice(cut)}${secret}${end}`]
      expect(sayAll(parts)).toEqual([parts[0], `${start.slice(cut)}[redacted:${rule}]${end}`])
    }
    for (const cut of cuts(secret)) {
      const [first = '', second] = sayAll([`${start}${secret.slice(0, cut)}`, `${secret.slice(cut)}${end}`])
      expect([`${start}${secret.slice(0, cut)}`, `${start}[redacted:${rule}]`]).toContain(first)
      expect(second).toBe(`[redacted:${rule}]${end}`)
    }
  })

  test('but not what stands right behind the end of a key', () => {
    const key = [
      '-----BEGIN PRIVATE',
      'KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE',
      'KEY-----',
    ].join(' ')
    expect(sayAll([key, 'It covers expiry.', 'So does this.'])).toEqual([
      '',
      'It covers expiry.',
      'So does this.',
    ])
  })

  test('over lines', () => {
    for (const cut of cuts(token)) {
      expect(sayAll([token.slice(0, cut), `\n  ${token.slice(cut)}`])[1]).toBe('[redacted:own-token]')
    }
  })
})

describe('of what stands right behind a secret that was told by then', () => {
  const others = [
    ['a token', 'use ghp_jgKSTCEtsoRHvmdaORjA22iqRIho44gW4M0j', 'Zz9'],
    ['a password', 'password: hunter22x', 'abc9'],
  ] as const

  test.for(others)('the beginning of a sentence is not masked: %s', ([, secret]) => {
    for (const next of ['Then I go on.', 'Done.', "That's it", 'I see it', 'Next, it']) {
      expect(sayAll([secret, next])[1]).toBe(next)
    }
  })

  test.for(others)('the rest of it is: %s', ([, secret, rest]) => {
    expect(sayAll([secret, `${rest} it is`])[1]).toMatch(/^\[redacted:[\w-]+\] it is$/)
    expect(sayAll([secret, `Then${rest} it is`])[1]).toMatch(/^\[redacted:[\w-]+\] it is$/)
  })

  test('nothing is masked where its length is known', () => {
    const key = `AIza${'Sy1b2'.repeat(7)}`
    expect(sayAll([`use ${key}`, 'then I go on'])).toEqual(['use [redacted:google-api-key]', 'then I go on'])
  })

  test('all of it is masked where it was not told before', () => {
    expect(sayAll(['use ghp_jgKSTCEtsoRHvmdaORjA22iqRI', 'Then it is'])[1]).toBe('Then it is')
    expect(sayAll(['see Zk_aB3dE5gH7jK9mN1pQ3sT', 'Vxyz it is'])[1]).toBe('[redacted:own-token] it is')
  })
})

test('of a secret in three texts, the last one is masked', () => {
  for (const first of cuts(token)) {
    for (const second of cuts(token.slice(first))) {
      const parts = [token.slice(0, first), token.slice(first, first + second), token.slice(first + second)]
      expect(sayAll(parts).at(-1)).toBe('[redacted:own-token]')
    }
  }
})

test('a secret is found though what came before seems to belong to its word', () => {
  expect(sayAll(['so', `${token} here`])).toEqual(['so', '[redacted:own-token] here'])
})

describe('a secret that begins where one text ended within a word', () => {
  const id = 'AKIAK4PA47X7VWD7NIBI'

  test.for([
    ['an own token', token, 'own-token'],
    ['a key of AWS', id, 'aws-access-key-id'],
  ] as const)('is found where it is completed: %s', ([, secret, rule]) => {
    for (const cut of cuts(secret).slice(3)) {
      expect(sayAll(['so I go', secret.slice(0, cut), `${secret.slice(cut)} here`]).at(-1)).toBe(
        `[redacted:${rule}] here`,
      )
    }
    const parts = ['so I go', ...(secret.match(/.{1,5}/g) ?? [])]
    expect(sayAll(parts).at(-1)).toBe(`[redacted:${rule}]`)
  })

  test('is found in one text too, glued to a word', () => {
    expect(seen(safety.guard(`so I go${id} on`))).toBe('so I go[redacted:aws-access-key-id] on')
  })
})

describe('the first word of a thought is not masked, whatever the text before it ends like', () => {
  test.for([
    'see https://contoso.webhook.office.com/webhookb2/aa73839e-d58d-4841-a4d1-fdf6466d399d@0b9add97-bdc0-45be-a843-b36ac4722615/IncomingWebhook/e49c8270d68949731d54588770625401/a7542959-dec7-4199-ad55-4dd5b3ba1c81',
    'it sets SESSION_SECRET=t9tL3zx756k8Xy5YvaUnov7XZywREvnA3K3m',
    'it sets MY_TOKEN=t9tL3zx756k8Xy5Y',
    'it sets DB_PASSWORD=uieb&69',
    'it sets PGPASSWORD=dgh',
  ])('%s', (before) => {
    for (const next of ['then I go on', 'reading the report, I see', 'so, done', 'next: the tests']) {
      expect(sayAll([before, next])[1]).toBe(next)
    }
  })

  test('and the rest of a password is', () => {
    const [, rest] = sayAll(['it sets DB_PASSWORD=uieb&69', '.aqkh and so on'])
    expect(rest).toMatch(/^\[redacted:[\w-]+\] and so on$/)
  })
})

test('what was said before does not come back', () => {
  expect(sayAll([`${token} `, 'all is well'])).toEqual(['[redacted:own-token] ', 'all is well'])
  expect(sayAll(['phrase: ', 'hunter22 is it', 'hunter22'])).toEqual([
    'phrase: ',
    '[redacted:own-phrase] is it',
    'hunter22',
  ])
})

test('behind the text of another field, a secret that goes on is masked, and the value of a label is not', () => {
  const inOther = (before: string, text: string) =>
    seen(safety.guard(text, { ...tailOf('', before), isOtherField: true }))
  for (const cut of cuts(token)) {
    expect(inOther(`see ${token.slice(0, cut)}`, `${token.slice(cut)} here`)).toBe(
      '[redacted:own-token] here',
    )
  }
  expect(inOther('use acme_a8Fk29dLs02k', 'Dl29fKqkq81Zt here')).toBe('[redacted:prefixed-token] here')
  for (const before of ['the token expires', 'the password is ', 'api key: ', 'curl -u ana:'])
    expect(inOther(before, 'P7eI3OLOZabEDfSbNp1vQ')).toBe('P7eI3OLOZabEDfSbNp1vQ')
})

test('a label that stands elsewhere is given as what stands before', () => {
  expect(seen(safety.guard('hunter22', 'phrase: '))).toBe('[redacted:own-phrase]')
  expect(seen(safety.guard('[redacted:own-phrase]', 'phrase: '))).toBe('[redacted:own-phrase]')
})

describe('what is kept of what was said', () => {
  test('is its end, not all', () => {
    const said = 'so it goes on and on. '.repeat(1000)
    const { said: tail } = tailOf(said, 'and on')
    expect(`${said}and on`.endsWith(tail)).toBe(true)
    expect(tail.length).toBeGreaterThan(200)
    expect(tail.length).toBeLessThan(1024)
  })

  test('has the places where one text ended and the next began within a word', () => {
    const tail = tailOf(tailOf(tailOf('', 'see src/ma'), 'in.t'), 's there')
    expect(tail).toEqual({ said: 'see src/main.ts there', seams: [10, 14], isProse: false })
    expect(tailOf('so it', ' goes')).toEqual({ said: 'so it goes', seams: [], isProse: true })
    expect(tailOf('so i', 't goes')).toEqual({ said: 'so it goes', seams: [4], isProse: true })
    expect(tailOf('see src/main.ts', ' so it goes').isProse).toBe(false)
    expect(tailOf('<think> so', ' it goes on and on'.repeat(20)).said).toMatch(/^<think>\n/)
  })

  test('has whole words', () => {
    const word = disguises['with zero-width spaces']?.(btoa(`key ${token}`.repeat(4))) ?? ''
    const [, second] = sayAll([`see ${word.slice(0, -3)}`, word.slice(-3)])
    expect(second).toBe('[redacted:own-token]')
  })

  test('is bounded, whatever is said', () => {
    const header = '-----BEGIN RSA PRIVATE KEY-----'
    for (const text of [
      'a'.repeat(100_000),
      `${header}\n${'MIIE/+09\n'.repeat(20_000)}`,
      header.repeat(9_000),
    ]) {
      expect(tailOf(text, text).said.length).toBeLessThan(5000)
    }
  })
})

describe('a private key', () => {
  const line = 'MIIEpAIBAAKCAQEAr7Vw0n6vZ1Hk3w9XcQ2bTqE5yL8uJ4mD+fGs/hKpN0eRtYiU'
  const body = Array.from({ length: 24 }, (_, index) => `${line.slice(index)}${line.slice(0, index)}`).join(
    '\n',
  )
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----`

  test.for([20, 64, 65, 333, 1000, 5000])(
    'is not seen in texts of %i characters, what follows is',
    (size) => {
      const parts = Array.from({ length: Math.ceil(key.length / size) }, (_, index) =>
        key.slice(index * size, (index + 1) * size),
      )
      const said = sayAll([...parts, '\nand so on', ' it goes'])
      expect(said.slice(-2)).toEqual(['\nand so on', ' it goes'])
      // The header may be visible, and as much of the body as distinguishes a key from a mention of one.
      expect(
        said
          .slice(0, -2)
          .join('')
          .replaceAll(/\[redacted:[\w-]+\]/g, '').length,
      ).toBeLessThan(80)
    },
  )

  test('is not seen where its end is never said', () => {
    expect(sayAll([key.slice(0, 300), `${key.slice(300, 400)}\n`]).join('')).not.toContain(line.slice(5, 15))
  })

  test('is not what follows on a header that is merely spoken of', () => {
    const [, second, third] = sayAll([
      'grep for -----BEGIN PRIVATE KEY----- in all files',
      ' and so on',
      ' it goes',
    ])
    expect([second, third]).toEqual([' and so on', ' it goes'])
  })
})
