import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { closeCodes } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { verifiedIds } from '../support/chain.js'
import { startMeup, temporaryFolder } from '../support/cli.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
limits: { rates: { chat: { perSecond: 100000, burst: 100000 } } }
participants:
  ana: { kind: human, capabilities: ["*"] }
`

test('SIGTERM under load: closed with 1001, exit 0, and everything acknowledged is in the log', async () => {
  const folder = temporaryFolder({ 'space.yaml': config })
  const gateway = await startMeup('gateway', folder)
  const token = readFileSync(join(folder, '.meup/tokens/ana'), 'utf8').trim()
  const closes: number[] = []
  const ana = await SpaceClient.open(
    (request, events) =>
      dialWs(request, {
        ...events,
        close: (code, reason) => {
          closes.push(code)
          events.close(code, reason)
        },
      }),
    { url: gateway.url, space: 'demo', token },
  )
  onTestFinished(() => ana.close())

  const acknowledged: string[] = []
  let isOver = false
  const load = (async () => {
    while (!isOver) {
      const batch = Array.from({ length: 20 }, (_, i) => ana.chat(`message ${i}`))
      for (const sent of batch) sent.then(({ id }) => acknowledged.push(id)).catch(() => {}) // Cut off by the end.
      await Promise.race([Promise.allSettled(batch), new Promise((resolve) => setTimeout(resolve, 50))])
    }
  })()
  await expect.poll(() => acknowledged.length).toBeGreaterThan(200)
  expect(await gateway.stop('SIGTERM')).toBe(0)
  isOver = true
  await load
  expect(closes[0]).toBe(closeCodes.draining)

  const ids = new Set(await verifiedIds(join(folder, '.meup/space.db'), 'demo'))
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
})
