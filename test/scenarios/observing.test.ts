import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Space } from '@meup/agent-sdk'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

/** The folder of the page, below one that stands for the clone. */
function observedFolder(): string {
  const clone = temporaryFolder({ 'package.json': '{"type":"module"}' })
  symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'))
  mkdirSync(join(clone, 'observed'))
  writeSnippets(snippetsOf('docs/observing.md'), clone)
  return join(clone, 'observed')
}

function run(folder: string, file: string): { readonly process: ChildProcess; stdout: string } {
  const child = spawn(process.execPath, ['--import', 'tsx', file], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const program = { process: child, stdout: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    program.stdout += chunk
  })
  return program
}

async function ask(space: Space, question: string): Promise<void> {
  const envelopes = space.envelopes()
  const { id } = await space.chat(question, { to: ['thinker'] })
  for await (const { kind, correlationId } of envelopes) {
    if (kind === 'chat' && correlationId === id) return
  }
}

const timeout = 15_000

test('the page leads to an agent that hides what it thinks, and to those who look on', async () => {
  const folder = observedFolder()
  const running = await startMeup('up', folder, ['--listen', '127.0.0.1:0'])
  run(folder, 'thinker.ts')
  const quiet = run(folder, 'quiet.ts')
  const ben = await connect({ url: running.url, space: 'demo', as: 'ben', directory: folder })
  onTestFinished(() => ben.close())
  await ben.whenPresent(['thinker'], { timeoutMs: timeout })
  const heard: string[] = []
  ben.on('envelope', ({ kind, payload }) => {
    if (kind === 'reasoning.thought') heard.push(String((payload as { message?: string }).message))
  })
  await vi.waitFor(
    async () => {
      await ask(ben, 'hello')
      expect(quiet.stdout).toContain('thinker reasoning.conclusion')
    },
    { timeout, interval: 50 },
  )
  expect(quiet.stdout).not.toContain('reasoning.thought')
  expect(heard.slice(-2)).toEqual(['somebody wrote: hello', 'this is what I make of it'])

  await ask(ben, 'about my salary')
  expect(heard.at(-1)).toBe('somebody wrote: about my salary')

  const curious = run(folder, 'curious.ts')
  await ben.whenPresent(['ana'], { timeoutMs: timeout })
  await ask(ben, 'the salary again')
  await vi.waitFor(() => expect(curious.stdout).toContain('thinker hides a run'), { timeout })
  expect(curious.stdout).toContain('thought: somebody wrote: the salary again')
})
