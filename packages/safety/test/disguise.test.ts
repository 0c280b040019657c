import { describe, expect, test } from 'vitest'
import { disguises, gate, long, ownRules, percent, seen, token } from './support.js'

const { guard } = gate()
const guarded = (text: string) => seen(guard(text))

describe('a secret is found', () => {
  test.for(Object.entries(disguises))('%s', ([, disguise]) => {
    expect(guarded(`see ${disguise(token)} here`)).toBe('see [redacted:own-token] here')
  })

  test.for(Object.entries(disguises))('%s, in the middle of what else is so written', ([, disguise]) => {
    const text = guarded(`see ${disguise(`all of ${token} here`)} too`)
    expect(text).toMatch(/^see .*\[redacted:own-token\].* too$/s)
    expect(text.normalize('NFKD').replace(/[^\w]/g, '')).not.toContain('aB3dE5')
  })

  test.for([
    ['behind a path', (text: string) => `https://a.example/files/${text}`],
    ['behind a word', (text: string) => `x${text}`],
    ['behind a label', (text: string) => `data=${text}`],
    ['in quotes', (text: string) => `{"data":"${text}"}`],
  ] as const)('in base64 %s', ([, place]) => {
    const text = guarded(`see ${place(btoa(`key ${token} ok`))} here`)
    expect(text).toContain('[redacted:own-token]')
    expect(text).not.toContain(btoa('aB3dE5gH7'))
  })

  test('where the label is written out and the value is encoded, and the other way round', () => {
    expect(guarded(`phrase: ${percent('hunter22')} is it`)).toBe('phrase: [redacted:own-phrase] is it')
    expect(guarded(`${percent('phrase')}: hunter22 is it`)).toBe(
      `${percent('phrase')}: [redacted:own-phrase] is it`,
    )
  })

  test('in every character that is another form of an ASCII one', () => {
    const rules = [{ name: 'any', pattern: 'zz[ -~]+zz', action: 'mask' as const }]
    const { guard } = gate({ rules })
    const missed: string[] = []
    for (let code = 0x80; code < 0x110000; code++) {
      const character = String.fromCodePoint(code)
      const ascii = /[0-9a-z]/i.test(character.normalize('NFKD'))
      if (ascii && seen(guard(`zz${character}zz`)) !== '[redacted:any]') missed.push(code.toString(16))
    }
    expect(missed).toEqual([])
  })

  test('and all of it is masked where its pattern stops short', () => {
    expect(guarded(`see zl-${'a1'.repeat(200)} here`)).toBe('see [redacted:own-long] here')
  })

  test('with others, each by its own rule; those that overlap are one', () => {
    expect(guarded(`${token} and ${long}, phrase: ${token}; ${token}`)).toBe(
      '[redacted:own-token] and [redacted:own-long], phrase: [redacted:own-token]; [redacted:own-token]',
    )
  })
})

test('a secret with a shorter one in it is masked up to its end', () => {
  const letter = { name: 'own-letter', pattern: 'zbegin [\\w ]{1,100} zend', action: 'mask' as const }
  const { guard } = gate({ rules: [letter, ...ownRules] })
  expect(seen(guard(`so zbegin my ${token} is yours zend it goes`))).toBe('so [redacted:own-letter] it goes')
})

describe('over lines', () => {
  const breaks = {
    'a line end': '\n',
    'a line end of Windows': '\r\n',
    'a continued line': ' \\\n',
    'a line end and an indent': '\n\t    ',
    'a string in two pieces': '" + "',
    'a string in two pieces over lines': '" +\n    "',
    'a string in two pieces, one behind the other': "'\n  '",
  }

  test.for(Object.entries(breaks))('a secret is found across %s, anywhere', ([, seam]) => {
    for (let at = 1; at < token.length; at++) {
      const text = `"see ${token.slice(0, at)}${seam}${token.slice(at)} here"`
      expect(guarded(text)).toBe('"see [redacted:own-token] here"')
    }
  })

  test('a secret in many lines is found', () => {
    expect(guarded(`key:\n${long.replace(/.{5}/g, '$&\n')}\n`)).toBe('key:\n[redacted:own-long]\n')
  })

  test('a secret that ends a line leaves the next one alone', () => {
    const lines = [
      'Then we go on.',
      'then we go on',
      'Done.',
      '\nThen',
      '- x1',
      '2. Then',
      'user: bob',
      'a1=b',
    ]
    for (const next of lines) {
      expect(guarded(`phrase: hunter22\n${next}`)).toBe(`phrase: [redacted:own-phrase]\n${next}`)
      expect(guarded(`see ${long}\n${next}`)).toBe(`see [redacted:own-long]\n${next}`)
    }
  })

  test('the rest of a secret in the next line is masked', () => {
    expect(guarded('phrase: hunter\n22abc is it')).toBe('phrase: [redacted:own-phrase] is it')
    expect(guarded(`${long}\nabc`)).toBe('[redacted:own-long]')
  })

  test.for([
    'a list of\nzl-\nalpha\nbeta\ngamma\ndelta\nepsilon',
    'the prefix is zl-\nwhich nobody should mistake for anything at all',
    'phrase:\n\nthe words that follow',
    'a = ""\nzk_b = "" + ""',
  ])('prose and code stay: %j', (text) => {
    expect(guarded(text)).toBe(text)
  })
})

describe('what is told by its label', () => {
  test.for([
    '<your-phrase>',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the variable is one of a shell, not of this file
    '${PHRASE}',
    '$PHRASE',
    '{{phrase}}',
    '%PHRASE%',
    'xxxxxxxx',
    '********',
    'changeme',
    'your-phrase-here',
    'EXAMPLE_PHRASE',
    'process.env.PHRASE',
    'config.phrase',
    'getPhrase()',
    'undefined',
    'string',
  ])('is no secret where it is a placeholder: %s', (value) => {
    expect(guarded(`phrase: ${value} end`)).toBe(`phrase: ${value} end`)
  })

  test.for(['$uperS3cret9', '%4rgh!xx', 'x1y2z3w4', '12345679x', 'a.b-c9d8'])(
    'is one otherwise: %s',
    (value) => {
      expect(guarded(`phrase: ${value} end`)).toBe('phrase: [redacted:own-phrase] end')
    },
  )

  test('is one behind a placeholder, or behind another label', () => {
    expect(guarded('phrase: <yours>; phrase: hunter22')).toBe(
      'phrase: <yours>; phrase: [redacted:own-phrase]',
    )
    expect(guarded('phrase: phrase: hunter22')).toBe('phrase: [redacted:own-phrase] [redacted:own-phrase]')
  })
})
