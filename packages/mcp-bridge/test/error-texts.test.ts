import { describe, expect, test } from 'vitest'
import { filesUnder } from '../../../test/support/files.js'
import { readText } from '../../../test/support/packages.js'
import { programError, programTexts, relayError, relayTexts } from '../src/errors.js'
import { serveError, serveTexts } from '../src/serve/errors.js'

type Table = readonly [name: string, texts: Readonly<Record<string, string>>, begins: RegExp]
const tables: readonly Table[] = [
  ['programTexts', programTexts, /^[a-z]/],
  ['relayTexts', relayTexts, /^[a-z]/],
  ['serveTexts', serveTexts, /^[A-Z{]/],
]

describe.each(tables)('%s say what happened. What to do', (name, texts, begins) => {
  test.for(Object.entries(texts))('%s: %s', ([code, text]) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(text).toMatch(begins)
    expect(text).toMatch(/^[^;]{1,190}(?:\.|\{\w+\}|\{timeoutMs\} ms)$/)
    expect(text).not.toMatch(/[.?] [a-z]/)
  })

  test('each is used', () => {
    const code = filesUnder('packages/mcp-bridge/src').map(readText).join('\n')
    const isUsed = (row: string): boolean =>
      new RegExp(`'${row}',\\s*\\{`).test(code) || code.includes(`${name}.${row}`)
    expect(Object.keys(texts).filter((row) => !isUsed(row))).toEqual([])
  })
})

test('a program error has its values as data', () => {
  const details = { command: 'npx', reason: 'there is no such file', systemCode: 'ENOENT' }
  expect(programError('cannot_start', details)).toMatchObject({
    ...{ name: 'ProgramError', code: 'cannot_start', details },
    message: 'cannot start "npx": there is no such file',
  })
})

test.for([
  [relayError('ended', { name: 'files', reason: 'exited with code 1' }), -32000],
  [relayError('late', { name: 'files', timeoutMs: 20 }), -32001],
  [relayError('cancelled', { reason: 'enough' }), -32800],
  [relayError('no_outcome', { name: 'files' }), -32603],
] as const)('%o has the JSON-RPC code %i', ([response, code]) => {
  expect(response).toMatchObject({ jsonrpc: '2.0', error: { code } })
})

test.for([
  [serveError('unknown_tool', { tool: 'a__b' }), -32602],
  [serveError('no_task', { tool: 'send' }), -32601],
  [serveError('invalid_result', { participant: 'files', what: 'prompt' }), -32603],
  [serveError('invalid_turn', { turn: '0' }), 'invalid_request'],
  [serveError('unknown_turn', { agent: 'bot', turn: '9' }), 'not_found'],
  [serveError('unknown_proposal', { proposal: 'p1' }), 'proposal_not_found'],
] as const)('%s has the code %s', ([error, code]) => {
  expect(error.code).toBe(code)
})
