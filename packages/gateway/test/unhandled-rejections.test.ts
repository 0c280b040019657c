import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** Runs a script with `logUnhandledRejections`, and returns its output. */
function run(script: string): string[] {
  const file = fileURLToPath(new URL('../src/host/unhandled-rejections.ts', import.meta.url))
  const source = `
    const { logUnhandledRejections, countUnhandledRejections } = await import(${JSON.stringify(file)})
    const log = { info() {}, warn() {}, error: ({ err, origin }) => console.log(String(err), origin ?? 'nowhere') }
    logUnhandledRejections(log)
    ${script}`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', source]
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim().split('\n')
}

test('a rejection that nobody handles is logged with its origin and counted, and the process goes on', () => {
  const [logged = '', odd, count] = run(`
    function forgetful() { Promise.reject(new Error('lost')) }
    forgetful()
    Promise.reject('no error')
    setTimeout(() => console.log(countUnhandledRejections()), 20)`)
  expect(logged).toMatch(/^Error: lost forgetful /)
  expect([odd, count]).toEqual(['no error nowhere', '2'])
})

test('an exception that nobody catches ends the process', () => {
  expect(() => run(`setTimeout(() => { throw new Error('half done') })`)).toThrow()
})
