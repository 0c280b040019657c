import { compileSafety, defaultSafety } from '@meup/safety'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { base64url, gate, long, percent, seen, token } from './support.js'

describe('a secret is found anywhere in a long text, however its pattern tells its length', () => {
  test.for([
    ['za{700}q', `z${'a'.repeat(700)}q`],
    ['z[]*]{1,600}q', `z${']*'.repeat(300)}q`],
    ['z[^]]{1,600}q', `z${'^*'.repeat(300)}q`],
    ['z[[:alpha:]*]{1,600}q', `z${'b*'.repeat(300)}q`],
    ['z[\\]*]{600}q', `z${']*'.repeat(300)}q`],
    ['z\\Qa[\\E+x[.]q', `za${'['.repeat(3000)}x.q`],
    ['z(?:(?:ab){2,9}c){2,50}q', `z${`${'ab'.repeat(9)}c`.repeat(50)}q`],
    ['z\\x{61}{300}\\pL{300}\\p{Greek}{9}q', `z${'a'.repeat(600)}${'λ'.repeat(9)}q`],
    ['z.+q', `z${'a'.repeat(3000)}q`],
    ['(?s)z.*?q', `z${'\n'.repeat(3000)}q`],
    ['za{3,}q', `z${'a'.repeat(3000)}q`],
  ] as const)('%s', ([pattern, secret]) => {
    const { guard } = compileSafety({
      ...defaultSafety,
      maxLength: 100_000,
      rules: [{ name: 'own', pattern, action: 'mask' }],
    })
    for (let at = 0; at < 4200; at += times(1281, 61)) {
      const [start, end] = ['-'.repeat(at), '-'.repeat(2500)]
      expect(seen(guard(`${start} ${secret} ${end}`))).toBe(`${start} [redacted:own] ${end}`)
    }
  })

  test('and all of it is masked, however far its match goes on', () => {
    const pattern = 'zbegin [\\s\\S]*?(?:zend|\\z)'
    const { guard } = compileSafety({
      ...defaultSafety,
      maxLength: 100_000,
      rules: [{ name: 'own', pattern, keywords: ['zbegin'], action: 'mask' }],
    })
    for (const length of [10, 300, 3000, 30_000]) {
      const body = 'and on '.repeat(length / 7)
      expect(seen(guard(`so zbegin ${body}`))).toBe('so [redacted:own]')
      if (length < 8000)
        expect(seen(guard(`so zbegin ${body} zend it goes`))).toBe('so [redacted:own] it goes')
      else expect(seen(guard(`so zbegin ${body} zend it goes`))).toBe('so [redacted:own]')
    }
  })

  test('also where it is encoded, in a word without an end', () => {
    const { guard } = gate({ maxLength: 100_000 })
    const text = `${'a'.repeat(3000)}.${percent(`(${token})`)}.${'a'.repeat(3000)}`
    expect(seen(guard(text))).toBe(`${'a'.repeat(3000)}.[redacted:own-token].${'a'.repeat(3000)}`)
    const lines = `so it goes on\n${'and on\n'.repeat(500)}`
    expect(seen(guard(`${lines}${btoa(`key ${token}`)}\n${lines}${base64url(long)}\n${lines}`))).toBe(
      `${lines}[redacted:own-token]\n${lines}[redacted:own-long]\n${lines}`,
    )
  })
})

describe('of a text that is much longer than what may be shown', () => {
  const { guard } = gate({ maxLength: 100 })

  test('the beginning is shown, and that it was longer', () => {
    expect(seen(guard('word '.repeat(2000)))).toBe(`${'word '.repeat(20).slice(0, 99)}…`)
  })

  // The secrets are longer than the marks that replace them, so that the cut moves behind the end of the scanned part.
  test.for([
    ['many secrets', `${long.padEnd(60, 'x')} `.repeat(33)],
    ['a secret that is nearly all that was read', `${long.padEnd(2080, 'x')} `],
  ] as const)('no half secret is shown where reading ends, behind %s', ([, secrets]) => {
    for (let at = 0; at < 90; at++) {
      const text = seen(guard(`${'-'.repeat(at)} ${secrets}${token} ${'and on '.repeat(1000)}`))
      expect(text.length).toBeLessThanOrEqual(100)
      expect(text).toMatch(/^-* ?(\[redacted:own-long\] ?)*…$/)
    }
  })

  test('a secret that begins in what is shown is masked, however long it is', () => {
    expect(seen(guard(`so zdb://ana:${'p4'.repeat(30)}@there ${'and on '.repeat(1000)}`))).toMatch(
      /^so zdb:\/\/ana:\[redacted:own-address\]@there and on .*…$/,
    )
  })
})

test('a text that ends with half a character is no longer for that', () => {
  const { guard } = compileSafety(defaultSafety)
  expect(guard('no \ud83d').text).toBe('no \ud83d')
  expect(guard(`${'a '.repeat(1500)}\ud83d`).text).toBe(`${'a '.repeat(1500)}\ud83d`)
})
