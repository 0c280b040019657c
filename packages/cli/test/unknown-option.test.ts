import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { parseCapabilities } from '../src/lib/capabilities.js'
import { createProgram } from '../src/program.js'

/** Runs `meup` with wrong arguments; returns its output on stderr. */
async function complain(args: readonly string[]): Promise<string> {
  let said = ''
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += text
    return true
  })
  onTestFinished(() => stderr.mockRestore())
  await expect(createProgram().parseAsync(args, { from: 'user' })).rejects.toThrow()
  return said
}

describe('a misspelt option', () => {
  test.each([
    ['--verbos', '--verbose'],
    ['--verbsoe', '--verbose'],
    ['--versoin', '--version'],
    ['--timeot', '--timeout'],
  ])('%s: did you mean %s?', async (option, meant) => {
    const said = await complain(['ask', 'Why?', option])
    expect(said).toMatch(`meup: unknown option '${option}'\n(Did you mean ${meant}?)\n`)
  })
})

test('JSON that is none is named as an argument', async () => {
  await expect(parseCapabilities(['{"kind":'])).rejects.toThrow(/^<capability> is not JSON: /)
})
