import { expect, test } from 'vitest'
import { spawnMeup, temporaryFolder } from '../support/cli.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
`

/** A program to load first, which ends its process as soon as the line is out that others wait for. */
const endAtLine = `data:text/javascript,${encodeURIComponent(`
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = (chunk, ...rest) => {
    const written = write(chunk, ...rest)
    if (String(chunk).includes('listening')) process.kill(process.pid, 'SIGTERM')
    return written
  }
`)}`

test('who ends a gateway as soon as it says that it listens has it end in order', async () => {
  const gateway = spawnMeup(['gateway', '--json'], temporaryFolder({ 'space.yaml': config }), {
    NODE_OPTIONS: `--import ${endAtLine}`,
  })
  expect(await gateway.ended).toBe(0)
  expect(gateway.said.stdout).toContain('"event":"listening"')
})
