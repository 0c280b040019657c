import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startMeup } from '../support/cli.js'
import { cloneWith, startProgram } from '../support/page-programs.js'

async function ask(space: SpaceClient, question: string): Promise<void> {
  const envelopes = space.envelopes()
  const { id } = await space.chat(question, { mention: 'thinker' })
  for await (const { kind, correlationId } of envelopes) {
    if (kind === 'chat' && correlationId === id) return
  }
}

const timeout = 15_000

test('the page leads to an agent that hides what it thinks, and to those who look on', async () => {
  const folder = join(cloneWith('docs/observing.md'), 'observed')
  const running = await startMeup('up', folder, ['--listen', '127.0.0.1:0'])
  startProgram(folder, 'thinker.ts')
  const quiet = startProgram(folder, 'quiet.ts')
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

  const curious = startProgram(folder, 'curious.ts')
  await ben.whenPresent(['ana'], { timeoutMs: timeout })
  await ask(ben, 'the salary again')
  await vi.waitFor(() => expect(curious.stdout).toContain('thinker hides a run'), { timeout })
  await vi.waitFor(() => expect(curious.stdout).toContain('its end shows a run'), { timeout })
  expect(curious.stdout).toContain('thought: somebody wrote: the salary again')
  expect(curious.stdout).not.toContain('thought: this is what I make of it')
})
