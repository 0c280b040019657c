import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { expect, onTestFinished, test } from 'vitest'
import { startMeup } from '../support/cli.js'
import { cloneWith, startProgram } from '../support/page-programs.js'

/** Makes the folder of the space of docs/trust.md, below a temporary folder in place of a clone of this repository. */
function guardedFolder(): string {
  const clone = cloneWith('docs/trust.md')
  mkdirSync(join(clone, 'guarded/files'))
  return join(clone, 'guarded')
}

async function answerTo(space: SpaceClient, question: string): Promise<string> {
  const envelopes = space.envelopes()
  const { id } = await space.chat(question, { to: ['helper'] })
  for await (const envelope of envelopes) {
    if (envelope.kind === 'chat' && envelope.correlationId === id) return envelope.payload.message
  }
  throw new Error('the space was closed')
}

test('the page leads to an agent that asks, a guard that decides, and to everything between them', async () => {
  const folder = guardedFolder()
  const running = await startMeup('up', folder, ['--listen', '127.0.0.1:0'])
  startProgram(folder, 'helper.ts')
  const guard = startProgram(folder, 'guard.ts')
  const ana = await connect({ url: running.url, space: 'demo', as: 'ana', directory: folder })
  onTestFinished(() => ana.close())
  await ana.whenPresent(['helper', 'guard', 'files'], { timeoutMs: 30_000 })
  const note = (): string | false =>
    existsSync(join(folder, 'files/note.txt')) && readFileSync(join(folder, 'files/note.txt'), 'utf8')

  expect(await answerTo(ana, 'my password is secret')).toBe(
    'I may not: rejected by guard: policy (no passwords in notes)',
  )
  expect(note()).toBe(false)
  expect(await answerTo(ana, 'buy milk')).toBe('Written, with the leave of guard.')
  expect(note()).toBe('buy milk')
  expect(await answerTo(ana, 'always buy milk')).toBe('Written, with the leave of guard.')
  expect(await answerTo(ana, 'buy bread')).toBe('Written.')
  expect(note()).toBe('buy bread')
  expect(guard.stdout).toMatch(/helper proposes tools\/call: always buy milk\nhelper has the grant \S+\n$/)

  const manage = startProgram(folder, 'manage.ts')
  const [code] = await once(manage.process, 'close')
  expect(code).toBe(0)
  expect(manage.stdout).toMatch(/^ProtocolError: kicked by ana: the visit is over \(4403\)\n/)
  expect(manage.stdout).toContain("{ status: 'paused', tokens: 1200 }")
  expect(await answerTo(ana, 'buy butter')).toBe('Written.')
})
