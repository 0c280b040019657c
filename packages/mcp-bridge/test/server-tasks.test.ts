import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { bridgeMcpServer } from '@meup/mcp-bridge'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, fixtures } from './support/processes.js'

/** A space with ana, and an MCP server `kitchen` whose tools require tasks. */
async function openKitchen() {
  const folder = mkdtempSync(join(tmpdir(), 'meup-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const notes = join(folder, 'notes')
  writeFileSync(notes, '')
  const space = await createTestSpace({ participants: { ana: ['*'], kitchen: ['mcp.*'] } })
  onTestFinished(() => space.close())
  const ana = await space.join('ana')
  const lines: string[] = []
  const bridge = await bridgeMcpServer({
    ...{ name: 'kitchen', command: process.execPath, args: [fixtures.taskServer, notes], env: {} },
    connect: () => space.join('kitchen'),
    log: (line) => lines.push(line),
  })
  onTestFinished(() => bridge.close())
  return { ana, lines, readNotes: () => readFileSync(notes, 'utf8') }
}

test('a tool that needs a task is called like any other, and its status is progress', async () => {
  const { ana, lines } = await openKitchen()
  for (let time = 1; time <= 2; time++) {
    const said: unknown[] = []
    const baked = await ana.call('kitchen/bake', {}, { onProgress: ({ message }) => said.push(message) })
    expect(baked.text).toBe('baked')
    expect(said).toEqual(['in the oven'])
  }
  expect(lines).toEqual([])
})

test('the error of a task is that of the call', async () => {
  const { ana } = await openKitchen()
  await expect(ana.call('kitchen/burn')).rejects.toThrow('burnt')
  await expect(ana.call('kitchen/boil')).rejects.toThrow(/boil/)
})

test('a call that is given up cancels its task', async () => {
  const { ana, readNotes } = await openKitchen()
  const abort = new AbortController()
  const waited = ana.call(
    'kitchen/wait',
    {},
    { signal: abort.signal, onProgress: () => abort.abort('enough') },
  )
  await expect(waited).rejects.toThrow('enough')
  expect(await eventually(() => readNotes() === 'cancelled')).toBe(true)
})
