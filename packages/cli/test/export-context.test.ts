import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { HttpClient } from '@meup/agent-sdk/http'
import { expect, onTestFinished, test } from 'vitest'
import { exportAudit } from '../src/commands/audit.js'

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
  const refused: [object, string][] = [
    [
      { format: 'jsonl', context: 'a' },
      '--context needs --format markdown: a part of the log could not be verified',
    ],
    [{ format: 'markdown', context: 'a', thread: 'bot' }, 'use either --context or --thread, not both'],
    [{ format: 'markdown', context: 'a/../b' }, '--context is a path such as run or run/step, not a/../b'],
  ]
  for (const [flags, message] of refused) {
    await expect(exportAudit(flags as Parameters<typeof exportAudit>[0])).rejects.toThrow(message)
  }
})
