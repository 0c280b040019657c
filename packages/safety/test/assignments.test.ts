import { compileSafety, defaultSafety } from '@meup/safety'
import { describe, expect, test } from 'vitest'
import assigned from './assigned.json' with { type: 'json' }

const { guard } = compileSafety(defaultSafety)
/** The value is in two parts, so that scanners do not find a secret in this file. */
const value = ['a8Fk29dLs0', '2kDl29fKq'].join('')
const hex = ['9f86d081884c7d65', '9a2feaa0c55ad015'].join('')
const password = ['Gr3at', 'Times!'].join('')

describe('a value that looks random behind a name that says secret is masked', () => {
  test.each([
    `acme_key=${value}`,
    `ACME_TOKEN=${value}`,
    `acmeToken := "${value}"`,
    `"acmeSecret": "${value}"`,
    `acme-key: ${value}`,
    `  ACMETOKEN: '${value}'`,
    `acmekey => '${value}'`,
    `Key=${value}x1`,
    `const token: string = "${value}"`,
    `setAcmeToken("${value}")`,
    `configure("acme_token", "${value}")`,
    `{"name": "ACME_TOKEN", "value": "${value}"}`,
    `- name: ACME_TOKEN\n  value: ${value}`,
    `<add key="AcmeToken" value="${value}" />`,
    `<acmeToken>${value}</acmeToken>`,
    `| acme token | ${value} |`,
    `token - '${value}'`,
    `API KEY ${value}`,
    `SECRET-${value}`,
    `the acme token for staging is ${value}`,
    `acme_key=${hex}`,
    `acme_token: "Bearer ${value}"`,
  ])('%s', (text) => {
    const { text: shown } = guard(`see\n${text}\nand so on`)
    expect(shown).toContain('[redacted:')
    for (const secret of [value, hex]) expect(shown).not.toContain(secret.slice(0, 8))
    expect(shown).toMatch(/^see\n/)
    expect(shown).toMatch(/\nand so on$/)
  })

  test.each([
    `new Mailer('smtp.example.net', 'bot', password="${password}")`,
    `MAILER_PASS: ${password}`,
    `<smtpPassword>${password}</smtpPassword>`,
  ])('%s', (text) => {
    expect(guard(text).text).not.toContain(password)
  })
})

/** In the fixtures, one character of each secret is escaped, so that scanners do not find secrets in this repository. */
describe('in all the ways that people and programs write it down', () => {
  test.each(assigned.positives)('%s', (text) => {
    expect(guard(`see\n${text}\nand so on`).text).toContain('[redacted:')
  })

  test.each(assigned.negatives)('but not %s', (text) => {
    expect(guard(text)).toMatchObject({ text, findings: [] })
  })
})

test('the rule tells what was found', () => {
  expect(guard(`acme_key=${value}`).findings).toEqual([{ rule: 'credential', action: 'mask' }])
})

describe('what only looks like it is left alone', () => {
  test.each([
    // Names that are not names of secrets.
    `cacheKey: "${value}"`,
    `primary_key=${value}`,
    `nextPageToken: "${value}"`,
    `Sec-WebSocket-Key: ${value}==`,
    `idempotency-key: ${value}`,
    `public key = ${value}`,
    `tokenId: ${value}`,
    `secret_name=${value}`,
    // Values that are not random.
    'token: accessTokenV2',
    'api_key = process.env.ACME_KEY2',
    'secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-4',
    'key: src/components/Stage2/App3.test.tsx',
    'token 3f2a9c1 was revoked',
    `key: ${hex.slice(0, 20)}`,
    'Cache restored from key: linux-node20-pnpm-5d41402abc4b2a76b9719d911017c592',
    'the token v0.0.0-20240101120000-abcdef123456 of the module',
    `key: 9a5d58c5-c9ef-46c7-9f53-7ffa2f84bb3e`,
    'MAX_TOKENS: 128000',
    'password: Sha256Digest',
    'password => required|string|min:8',
  ])('%s', (text) => {
    expect(guard(text)).toMatchObject({ text, findings: [] })
  })
})

describe('a token with a prefix that no rule knows', () => {
  test.each([`acme_${value}kq81Zt`, `acme_app_${value}kq81Zt`, `acme.v1_${value}kq81Zt`])('%s', (text) => {
    expect(guard(`use ${text} here`).text).toBe('use [redacted:prefixed-token] here')
  })

  test('is no name in code, no symbol and no part of a longer token', () => {
    const text = `call get_internationalization_settings2 in _ZN4core3fmt9Formatter12pad_integral17h${hex}E`
    expect(guard(text).text).toBe(text)
  })
})
