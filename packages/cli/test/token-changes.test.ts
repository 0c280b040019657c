import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { changeTokens, type TokenVerb, tokenEntries } from '../src/operator/tokens.js'
import { configIn, folderWith } from './support/folder.js'
import { refused } from './support/refused.js'

const one = `
version: 1
space: demo
participants:
  ana: { kind: human }
  ben: { kind: agent }
`
const two = `
version: 1
spaces:
  a: { participants: { ana: { kind: human } } }
  b: { participants: { ana: { kind: human }, ben: { kind: agent } } }
`

function open(text = one, files: Record<string, string> = {}) {
  const folder = folderWith(files)
  const { config } = configIn(folder, text)
  const states = () =>
    tokenEntries(config, {}).map(({ space, participant, state }) => `${space} ${participant} ${state}`)
  const change = (verb: TokenVerb, participant?: string, space?: string) =>
    changeTokens(config, verb, {
      ...(participant !== undefined && { participant }),
      ...(space !== undefined && { space }),
    })
  return {
    folder,
    config,
    states,
    change,
    path: (...parts: string[]) => join(folder, '.meup/tokens', ...parts),
  }
}

describe('create', () => {
  test('makes a token for one who has none, and says where', () => {
    const { change, states, path } = open()
    const [made] = change('create', 'ana')
    expect(made).toMatchObject({ entry: { file: path('ana'), state: 'valid' }, before: undefined })
    expect(made?.after).toBe(readFileSync(path('ana'), 'utf8').trim())
    expect(statSync(path('ana')).mode & 0o777).toBe(0o600)
    expect(states()).toEqual(['demo ana valid', 'demo ben missing'])
  })

  test('leaves alone who has one', () => {
    const { change, path } = open(one, { '.meup/tokens/ana': 'my-own-token-0123\n' })
    expect(() => change('create', 'ana')).toThrow(refused('token_exists', { file: path('ana') }))
    expect(readFileSync(path('ana'), 'utf8')).toBe('my-own-token-0123\n')
  })

  test('gives a new one to whose token was revoked, but only by name', () => {
    const { change, states } = open(one, { '.meup/tokens/ana': 'revoked\n' })
    expect(change('create').map(({ entry }) => entry.participant)).toEqual(['ben'])
    expect(states()).toEqual(['demo ana revoked', 'demo ben valid'])
    change('create', 'ana')
    expect(states()).toEqual(['demo ana valid', 'demo ben valid'])
    expect(change('create')).toEqual([])
  })
})

describe('rotate', () => {
  test('replaces the token, and leaves nothing else behind', () => {
    const { change, path } = open(one, { '.meup/tokens/ana': 'my-own-token-0123\n' })
    const [changed] = change('rotate', 'ana')
    expect(changed?.before).toBe('my-own-token-0123')
    expect(changed?.after).toMatch(/^[\w-]{43}$/)
    expect(readFileSync(path('ana'), 'utf8')).toBe(`${changed?.after}\n`)
    expect(readdirSync(path())).toEqual(['ana'])
  })

  test('mends one that cannot be used', () => {
    const { change, states } = open(one, { '.meup/tokens/ana': 'short' })
    expect(states()[0]).toBe('demo ana unusable')
    expect(change('rotate', 'ana')[0]).toMatchObject({ before: undefined, entry: { state: 'valid' } })
  })

  test.for([
    ['missing', {}],
    ['revoked', { '.meup/tokens/ana': 'revoked\n' }],
  ] as const)('is refused if it is %s', ([state, files]) => {
    const { change } = open(one, files)
    expect(() => change('rotate', 'ana')).toThrow(refused('token_missing', { participant: 'ana', state }))
  })
})

describe('revoke', () => {
  test('leaves a file that opens nothing, and keeps a new token from being made', () => {
    const { change, states, path } = open(one, { '.meup/tokens/ana': 'my-own-token-0123\n' })
    expect(change('revoke', 'ana')).toMatchObject([{ before: 'my-own-token-0123', after: undefined }])
    expect(readFileSync(path('ana'), 'utf8')).toBe('revoked\n')
    expect(states()[0]).toBe('demo ana revoked')
    expect(() => change('revoke', 'ana')).toThrow(refused('token_missing', { state: 'revoked' }))
  })

  test('of one that was never made keeps it from being made', () => {
    const { change, states } = open()
    change('revoke', 'ana')
    expect(states()[0]).toBe('demo ana revoked')
  })
})

describe('which participant', () => {
  test('must be named for what cannot be undone', () => {
    const { change, folder } = open()
    for (const verb of ['rotate', 'revoke'] as const)
      expect(() => change(verb)).toThrow(
        refused('missing_argument', { form: `meup token ${verb} <participant>` }),
      )
    expect(existsSync(join(folder, '.meup'))).toBe(false)
  })

  test('must be in the file, and be one', () => {
    const { change, states, path } = open(two)
    expect(() => change('create', 'zoe')).toThrow(refused('unknown_name', { what: 'participant' }))
    expect(() => change('create', 'ana')).toThrow(refused('ambiguous_space', { spaces: ['a', 'b'] }))
    expect(() => change('create', 'ana', 'c')).toThrow(refused('unknown_name', { meant: 'one of a, b' }))
    change('create', 'ana', 'b')
    change('create', 'ben')
    expect(states()).toEqual(['a ana missing', 'b ana valid', 'b ben valid'])
    expect(readdirSync(path('b')).sort()).toEqual(['ana', 'ben'])
  })
})
