import { join } from 'node:path'
import { TranscriptFile } from '@meup/agent-sdk/transcript/file'
import { afterEach, expect, test, vi } from 'vitest'
import { showExchange } from '../src/transcript/transcript.js'
import { answering } from './support/answering.js'
import { folderWith } from './support/folder.js'
import { refused } from './support/refused.js'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** A transcript of `bot` with one answer, which was sent as the envelope `V1StGXR8`. */
async function keep(): Promise<string> {
  const folder = folderWith()
  const file = await TranscriptFile.open(join(folder, 'bot.db'))
  const content = { content_type: 'error', text: 'It is ready' } as const
  const [commit] = file.append([{ content, message: 'answer', metadata: { at: '2026-01-02T03:04:05Z' } }])
  file.link([{ id: 'V1StGXR8', hash: commit?.hash ?? '', kind: 'chat' }])
  file.close()
  return folder
}

test('an exchange is found by an envelope as its space names it', async () => {
  const folder = await keep()
  const asked: string[] = []
  const { url, space } = await answering(({ pathname }) => {
    const ref = decodeURIComponent(pathname.split('/').at(-1) ?? '')
    asked.push(ref)
    if (ref === 'V1')
      return { status: 400, body: { code: 'invalid_request', detail: 'V1 may be any of V1a, V1b' } }
    return ref === '#48' || ref === 'V1St'
      ? { body: { id: 'V1StGXR8', seq: 48 } }
      : { status: 404, body: { code: 'not_found', detail: 'There is no such envelope.' } }
  })
  vi.stubEnv('MEUP_URL', url)
  vi.stubEnv('MEUP_SPACE', space)
  vi.stubEnv('MEUP_TOKEN', 'x')
  const printed: string[] = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0)
  for (const name of ['V1StGXR8', '#48', 'V1St']) {
    printed.length = 0
    await showExchange(name, { folder })
    expect(printed.join('')).toContain('It is ready')
  }
  expect(asked).toEqual(['#48', 'V1St'])
  await expect(showExchange('V1', { folder })).rejects.toThrow('V1 may be any of V1a, V1b')
  await expect(showExchange('#49', { folder })).rejects.toThrow(refused('not_in_transcripts'))
})
