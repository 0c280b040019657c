import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { HttpClient } from '@meup/agent-sdk/http'
import { expect, onTestFinished, test } from 'vitest'
import { exportAudit } from '../src/commands/audit.js'
import { refused } from './support/refused.js'

test('an export of one context asks for its path, encoded segment by segment', async () => {
  const asked: (string | undefined)[] = []
  const server = createServer(({ url }, response) => {
    asked.push(url)
    response.end('## Context reason-789/permissions\n')
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const target = { url: `http://127.0.0.1:${port}`, space: 'my space', token: 'secret' }
  const exported = await new HttpClient(target).openExport({
    format: 'markdown',
    context: 'reason-789/permissions',
  })
  expect(await text(exported)).toBe('## Context reason-789/permissions\n')
  expect(asked).toEqual(['/spaces/my%20space/contexts/reason-789/permissions?format=markdown'])
})

test('only Markdown is of one context, which is a path, and of no thread at the same time', async () => {
  const wrong: [flags: object, error: ReturnType<typeof refused>][] = [
    [{ format: 'jsonl', context: 'a' }, refused('option_needed', { needed: '--format markdown' })],
    [{ format: 'markdown', context: 'a', thread: 'bot' }, refused('option_conflict', { other: '--thread' })],
    [{ format: 'markdown', context: 'a/../b' }, refused('invalid_value', { option: '--context' })],
  ]
  for (const [flags, error] of wrong) {
    await expect(exportAudit(flags as Parameters<typeof exportAudit>[0])).rejects.toThrow(error)
  }
})
