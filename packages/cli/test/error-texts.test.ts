import { ConnectionError } from '@meup/agent-sdk'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { filesUnder } from '../../../test/support/files.js'
import { readText } from '../../../test/support/packages.js'
import { Failure, invalidValue, UsageError } from '../src/failure/failure.js'
import { failures } from '../src/failure/failures.js'
import { usageTexts, valueForms } from '../src/failure/usage.js'
import { reportError } from '../src/lib/exit.js'
import { unknownNameError } from '../src/lib/unknown-name.js'

const texts: Readonly<Record<string, string>> = usageTexts

describe('says what happened, with the value. Then what to do.', () => {
  test.for(Object.entries(texts))('%s: %s', ([code, text]) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(text).toMatch(/^[a-z{'][^;]*(?:[.?]|\n\{\w+\})$/)
    expect(text).not.toMatch(/[.?] [a-z]/)
    expect(text).not.toContain('`')
  })
})

test('each code is thrown, and has one text', () => {
  const code = filesUnder('packages/cli/src')
    .filter((path) => !path.endsWith('failure/usage.ts'))
    .map(readText)
    .join('\n')
  const isUsed = (name: string): boolean => code.includes(`'${name}'`)
  expect(Object.keys(texts).filter((name) => !isUsed(name) || Object.hasOwn(failures, name))).toEqual([])
  expect(Object.keys(valueForms).filter((name) => !isUsed(name))).toEqual([])
  expect(new Set(Object.values(texts)).size).toBe(Object.keys(texts).length)
})

test('a command in a folder whose space does not run names the folder, and the ways to another', () => {
  const missing = 'the gateway is not known'
  const notices = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const { exitCode } = process
  onTestFinished(() => {
    notices.mockRestore()
    process.exitCode = exitCode
  })
  reportError(new ConnectionError('not_configured', missing, { details: { option: 'url' } }))
  const said = String(notices.mock.calls[0]?.[0])
  expect(said).toContain(`meup: no space runs in ${process.cwd()}. Start one here with meup up`)
  expect(said).toMatch(/-C.*--url.*meup spaces/)
  expect(process.exitCode).toBe(2)
})

test.for<[error: Error, message: string]>([
  [invalidValue('--limit', 'count', '2x'), '--limit takes a whole number such as 20, not 2x.'],
  [invalidValue('--header', 'header'), '--header takes a name and a value, such as "X-Team: blue".'],
  [unknownNameError('space', 'demmo', ['demo', 'prod']), 'there is no space demmo. Did you mean demo?'],
  [unknownNameError('space', 'c', ['demo', 'prod']), 'there is no space c. Did you mean one of demo, prod?'],
  [unknownNameError('space', 'c', ['demo']), 'there is no space c. Did you mean demo?'],
  [unknownNameError('program', 'c', []), 'there is no program c, nor any other.'],
  [
    new UsageError('ambiguous_id', { start: 'x', what: 'grant', ids: ['x1', 'x2'] }),
    'x may be any grant of x1, x2. Give more of its id.',
  ],
  [
    new UsageError('invalid_number', { option: '/interrupt', maximum: 3, value: '{option}' }),
    '/interrupt takes a number from 1 to 3, not {option}.',
  ],
  [
    new Failure('unknown_participant', { name: 'bott', meant: 'bot' }),
    'no one is called bott. Did you mean bot?',
  ],
  [
    new Failure('unknown_proposal', { id: 'x' }),
    'no proposal x is in the log. meup proposals ls shows what is open.',
  ],
])('%s', ([error, message]) => {
  expect(error.message).toBe(message)
})
