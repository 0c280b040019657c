import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { scriptedModel } from '@meup/agent-sdk/ai'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { TranscriptFile } from '@meup/agent-sdk/transcript/file'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../../test/support/cli.js'
import { mountSmallDisk } from '../../../../test/support/faults.js'
import { needing } from '../../../../test/verifies.js'

/** A program that appends commits, and prints the hash of each commit once it is stored. */
const program = `
import { TranscriptFile } from '@meup/agent-sdk/transcript/file'
const [path, turn, count] = process.argv.slice(2)
const file = await TranscriptFile.open(path)
for (let n = 0; n < Number(count); n++) {
  const content = { content_type: 'assistant', text: turn + n }
  const [{ hash }] = file.append([{ content, metadata: { at: new Date().toISOString(), turn } }])
  process.stdout.write(hash + '\\n')
}
`

function writer(): string {
  const folder = join(import.meta.dirname, '../../dist/test') // The package can be imported from there.
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `writer-${process.pid}.mjs`)
  writeFileSync(path, program)
  return path
}

const read = async (path: string): Promise<TranscriptFile> => {
  const file = await TranscriptFile.read(path)
  onTestFinished(() => file.close())
  return file
}

test('two processes append to one file: one chain', async () => {
  const path = join(temporaryFolder(), 'a.db')
  const run = promisify(execFile)
  await Promise.all(['a', 'b'].map((turn) => run(process.execPath, [writer(), path, turn, '200'])))
  const file = await read(path)
  expect(file.verify()).toMatchObject({ ok: true, commits: 400 })
  expect([file.entries({ turn: 'a' }).length, file.entries({ turn: 'b' }).length]).toEqual([200, 200])
})

test('after kill −9 in the midst of commits, all that was kept is there, and more can follow', async () => {
  const path = join(temporaryFolder(), 'a.db')
  const child = spawn(process.execPath, [writer(), path, 'a', '1000000'])
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk
    if (printed.length > 65 * 300) child.kill('SIGKILL')
  })
  await once(child, 'close')
  const hashes = printed.split('\n').filter((line) => line.length === 64)
  const file = await read(path)
  const kept = new Set(file.entries().map(({ commit }) => commit.hash))
  expect(hashes.length).toBeGreaterThan(299)
  expect(hashes.filter((hash) => !kept.has(hash))).toEqual([])
  expect(file.verify()).toMatchObject({ ok: true, commits: kept.size })
  await promisify(execFile)(process.execPath, [writer(), path, 'b', '1'])
  expect(file.verify()).toMatchObject({ ok: true, commits: kept.size + 1 })
})

const onSmallDisk = needing('the right to mount a disk in memory (root)', () => mountSmallDisk(4))
const long = 'The report says that the token expires. '.repeat(50).trim()

/** An agent whose transcript is stored in a folder, and the errors that it reports. */
async function agentIn(transcripts: string) {
  const space = await createTestSpace({ participants: { ana: ['*'], bot: ['*'] } })
  onTestFinished(() => space.close())
  const [ana, bot] = [await space.join('ana'), await space.join('bot', { transcripts })]
  const troubles: unknown[] = []
  void bot.agent({ model: scriptedModel(() => [{ text: long }]), onError: (error) => troubles.push(error) })
  return { troubles, ask: async () => (await ana.ask('Why?', { to: ['bot'] })).text }
}

test(
  'on a disk that is full the agent goes on, and says once that its transcript does not',
  onSmallDisk(async ({ folder, fill }) => {
    const { ask, troubles } = await agentIn(folder)
    expect(await ask()).toBe(long)
    fill()
    for (let n = 0; n < 5; n++) expect(await ask()).toBe(long)
    const reason = /^the transcript ends here: .*(full|disk)/
    expect(troubles).toMatchObject([{ message: expect.stringMatching(reason) }])
    const file = await read(join(folder, 'bot.db'))
    expect(file.verify()).toMatchObject({ ok: true })
    expect(file.entries().length).toBeGreaterThan(1)
  }),
)

test(
  'on a disk that is read-only, too',
  onSmallDisk(async ({ folder }) => {
    execFileSync('mount', ['-o', 'remount,ro', folder])
    const { ask, troubles } = await agentIn(folder)
    for (let n = 0; n < 2; n++) expect(await ask()).toBe(long)
    const reason = /^no transcript is kept: .*read-only/i
    expect(troubles).toMatchObject([{ message: expect.stringMatching(reason) }])
  }),
)
