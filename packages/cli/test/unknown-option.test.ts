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

describe('words after the id of a proposal', () => {
  const refuse = (...args: string[]) => createProgram().parseAsync(['proposals', ...args], { from: 'user' })

  test.for(['reject', 'withdraw'])('%s takes no unknown option for a word', async (verb) => {
    await expect(refuse(verb, 'P1', '--mesage', 'no')).rejects.toThrow(/no option --mesage/)
  })

  test('reject takes a reason once', async () => {
    const both = refuse('reject', 'P1', 'not', 'now', '--message', 'never')
    await expect(both).rejects.toThrow(/--message does not go with <why>/)
  })
})

test('a misspelt command of proposals is not taken for the list', async () => {
  const misspelt = createProgram().parseAsync(['proposals', 'aprove', 'P1'], { from: 'user' })
  await expect(misspelt).rejects.toThrow('there is no command aprove. Did you mean approve?')
})

test('JSON that is none is named as an argument', async () => {
  await expect(parseCapabilities(['{"kind":'])).rejects.toThrow(/^<capability> is not JSON: /)
})
