import { describe, expect, test } from 'vitest'
import { ConfigError } from '../src/config/config-error.js'
import { parseConfig } from '../src/config/load.js'

/** Problems of a configuration whose third line is `line`. */
function inSpace(line: string): string[] {
  try {
    parseConfig(`version: 1\nspace: demo\n${line}`, { file: 'space.yaml', env: {} })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n').map((problem) => problem.replace(/^space\.yaml:/, ''))
  }
  return []
}

describe('an issuer of tokens', () => {
  const issuer = (keys: string): string => `auth: { jwt: { issuer: a, audience: b, jwks: ${keys} } }`

  test('is described whole', () => {
    expect(inSpace('auth: { jwt: { issuer: "", jwks: x, keys: y } }')).toEqual([
      '3:14 auth.jwt.audience: is missing; it must be text, and not empty',
      '3:24 auth.jwt.issuer: must be text, and not empty',
      '3:37 auth.jwt.keys: is not known here; known are issuer, audience, jwks',
    ])
  })

  test.for(['keys.json', '../id/keys.json', '/etc/keys.json', 'C:\\keys.json'])('has keys in %j', (keys) => {
    expect(inSpace(issuer(`'${keys}'`))).toEqual([])
  })

  test.for([
    'https://id.example/jwks.json?v=1',
    'https://id.example:8443',
    'http://localhost:8080/jwks.json',
    'http://127.0.0.1/jwks.json',
    'http://127.8.9.10:1',
    'http://[::1]:8080/jwks.json',
  ])('has keys at %j', (keys) => {
    expect(inSpace(issuer(`"${keys}"`))).toEqual([])
  })

  test.for([
    'http://id.example/jwks.json',
    'http://127.0.0.1.id.example/jwks.json',
    'http://localhost.id.example/',
    'http://localhost@id.example/',
    'https://me:secret@id.example/jwks.json',
    'https://id.example/#keys',
    'ftp://id.example/jwks.json',
    'file:///etc/keys.json',
    '',
  ])('has none at %j, where others could answer for it', (keys) => {
    expect(inSpace(issuer(`"${keys}"`))).toEqual([
      expect.stringMatching(
        /^3:\d+ auth\.jwt\.jwks: must be an https address \(http on this machine alone\), or/,
      ),
    ])
  })
})
