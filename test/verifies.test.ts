import { afterEach, expect, test, vi } from 'vitest'
import { needing } from './verifies.js'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('a test that needs something gets what was found', (context) => {
  const body = vi.fn()
  needing('a word', () => 'found')(body)(context)
  expect(body).toHaveBeenCalledWith('found', context)
})

test.for([undefined, false] as const)(
  'without it (%s) the test is skipped and says what it needs',
  (nothing, context) => {
    vi.stubEnv('MEUP_REQUIRE_ALL', '')
    vi.spyOn(context, 'skip').mockImplementation((note) => {
      throw new Error(`skipped: ${note}`)
    })
    const body = vi.fn()
    expect(() => needing('a word', () => nothing)(body)(context)).toThrow('skipped: needs a word')
    expect(body).not.toHaveBeenCalled()
  },
)

test('with MEUP_REQUIRE_ALL=1 it fails instead', (context) => {
  vi.stubEnv('MEUP_REQUIRE_ALL', '1')
  expect(() => needing('a word', () => undefined)(vi.fn())(context)).toThrow('needs a word')
})
