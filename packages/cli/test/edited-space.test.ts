import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig } from '../src/config/load.js'
import { reloadOnDemand } from '../src/run/reload.js'
import type { RunningGateway } from '../src/run/start-gateway.js'
import { folderWith } from './support/folder.js'

const text = `
version: 1
space: demo
participants:
  ana: { kind: human, capabilities: [chat] }
`

/** Announces edits of a space.yaml that the gateway does not apply by itself; `said` returns the printed announcements. */
function announce() {
  const path = join(folderWith({ 'space.yaml': text }), 'space.yaml')
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const config = loadConfig(path)
  const reload = vi.fn(async () => [])
  const running = { config, tokens: {}, jwt: undefined, reload } as unknown as RunningGateway
  const options = { json: false, terminal: { isGone: false } }
  const reloading = reloadOnDemand(Promise.resolve(running), () => loadConfig(path), options)
  reloading.announceEdits(config)
  onTestFinished(async () => {
    await reloading.stop()
    process.removeAllListeners('SIGHUP')
    stderr.mockRestore()
  })
  const said = (): string => stderr.mock.calls.map(([line]) => String(line)).join('')
  return { path, reload, said }
}

test.for([
  ['another capability', text.replace('[chat]', '["*"]')],
  ['a mistake', `${text}surprise: 1\n`],
])('a space.yaml saved with %s is announced, and not applied', async ([, next]) => {
  const { path, reload, said } = announce()
  // The file watcher starts asynchronously: saves the file again, until a save is announced.
  await expect
    .poll(
      () => {
        writeFileSync(path, String(next))
        return said()
      },
      { interval: 1500, timeout: 20_000 },
    )
    .toMatch(/space\.yaml changed; .*--watch/)
  expect(reload).not.toHaveBeenCalled()
})
