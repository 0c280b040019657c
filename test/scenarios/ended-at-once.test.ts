import { expect, test } from 'vitest'
import { spawnMeup, temporaryFolder } from '../support/cli.js'
import { crowdConfig } from '../support/crowd.js'

/** A module to load first. It ends the process as soon as it prints the line that other programs wait for. */
const endAtLine = `data:text/javascript,${encodeURIComponent(`
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = (chunk, ...rest) => {
    const written = write(chunk, ...rest)
    if (String(chunk).includes('listening')) process.kill(process.pid, 'SIGTERM')
    return written
  }
`)}`

test('who ends a gateway as soon as it says that it listens has it end in order', async () => {
  const gateway = spawnMeup(['gateway', '--json'], temporaryFolder({ 'space.yaml': crowdConfig() }), {
    NODE_OPTIONS: `--import ${endAtLine}`,
  })
  expect(await gateway.ended).toBe(0)
  expect(gateway.said.stdout).toContain('"event":"listening"')
})
