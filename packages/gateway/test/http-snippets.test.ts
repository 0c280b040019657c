import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testToken } from '@meup/gateway/testing'
import { expect, onTestFinished, test } from 'vitest'
import { snippetsOf } from '../../../test/support/snippets.js'
import { start } from './support.js'
import { sayIn, twoCalls } from './turns.js'

const lines = snippetsOf('docs/http.md')
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.trimEnd().split('\n'))
const ask = lines.find((line) => line.startsWith('ask() '))
const commands = lines.filter((line) => line.startsWith('ask '))

/** Runs a command of docs/http.md in a folder. Kills a command that follows a stream once that has begun. */
function run(command: string, url: string, cwd: string): Promise<string> {
  const env = { ...process.env, SPACE: `${url}/spaces/demo`, MEUP_TOKEN: testToken('ben') }
  const shell = spawn('bash', ['-e', '-c', `${ask}\n${command}`], { cwd, env, detached: true })
  const isStream = command.includes('/events')
  let text = ''
  return new Promise((resolve, reject) => {
    shell.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (isStream && shell.pid !== undefined) process.kill(-shell.pid)
    })
    shell.stderr.on('data', (chunk: Buffer) => reject(new Error(`${command}: ${chunk.toString()}`)))
    shell.on('error', reject)
    shell.on('close', (code) => {
      if (code === 0 || isStream) resolve(text)
      else reject(new Error(`${command} ended with ${code}`))
    })
  })
}

test('the commands of docs/http.md do what they say', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'meup-http-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const participants = { ana: ['*'], ben: ['*'], tool: ['*'] }
  const { url, post } = await start({ name: 'demo', participants })
  await sayIn({ post })(...twoCalls('a'), ['ben', { id: 'run-7', kind: 'reasoning.start' }])
  expect(commands.length).toBeGreaterThan(15)
  for (const command of commands) {
    const text = await run(command, url, cwd)
    expect([command, text]).toEqual([command, expect.not.stringMatching(/"code":"|^curl/)])
    const first = /# \{"(\w+)"/.exec(command)?.[1]
    if (first !== undefined) expect(Object.keys(JSON.parse(text) as object)[0]).toBe(first)
  }
  const written = readdirSync(cwd)
  expect(written.sort()).toEqual(['ben.md', 'demo.jsonl'])
  for (const file of written) expect(readFileSync(join(cwd, file), 'utf8')).not.toBe('')
})
