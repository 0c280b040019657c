import type { Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { meup, startMeup, temporaryFolder } from '../support/cli.js'
import { type Accepted, crowdConfig, enterAs, expectInLog, expectNoGap } from '../support/crowd.js'
import { shiftClock } from '../support/shifted-clock.js'

const [hour, day] = [3_600_000, 86_400_000]
/** Milliseconds by which the clock jumps; the test also starts the gateway after a jump. */
const jumps = [hour, -2 * hour, 30 * day, -31 * day, -1000]

test('the clock of a gateway is put forward and back: while it runs its time never goes back, and nothing acknowledged is lost', {
  timeout: 240_000,
}, async () => {
  const folder = temporaryFolder({ 'space.yaml': crowdConfig() })
  const { through, setOffset } = shiftClock(folder)
  let gateway = await startMeup('gateway', folder, [], through)
  const accepted: Accepted[] = []
  const burst = async (space: { chat(text: string): Promise<Accepted> }, what: string): Promise<void> => {
    const said = Array.from({ length: 50 }, (_, number) => space.chat(`${what} ${number}`))
    accepted.push(...(await Promise.all(said)))
  }

  const [ana, ben] = [await enterAs(folder, 'ana', gateway.url), await enterAs(folder, 'ben', gateway.url)]
  await burst(ana.space, 'before')
  let offset = 0
  for (const [index, jump] of jumps.entries()) {
    offset += jump
    setOffset(offset)
    gateway.process.kill('SIGUSR2')
    const put = () => gateway.stderr.split('the offset was read').length - 1
    await expect.poll(put, { timeout: 30_000 }).toBe(index + 1)
    await burst(ana.space, `after ${jump} ms`)
    await burst(ben.space, `and ${jump} ms`)
  }
  const last = Math.max(...accepted.map(({ seq = 0 }) => seq))
  for (const { seen } of [ana, ben]) {
    await expect.poll(() => seen.at(-1) ?? 0, { timeout: 30_000 }).toBeGreaterThanOrEqual(last)
    expectNoGap(seen)
  }
  const printed = await meup(['watch', '--as', 'ana', '--json', '--from', '1', '--no-follow'], {
    cwd: folder,
  })
  const log = printed.stdout.trim().split('\n')
  const times = log.map((line) => Date.parse((JSON.parse(line) as Envelope).ts))
  expect(times).toEqual(times.toSorted((one, other) => one - other))
  expect(times.at(-1)).toBeGreaterThan(Date.now() + 29 * day)

  // Start with a clock far behind the last time in the log.
  expect(await gateway.stop('SIGTERM')).toBe(0)
  setOffset(-40 * day)
  gateway = await startMeup('gateway', folder, [], through)
  const back = await enterAs(folder, 'reader', gateway.url)
  const again = await enterAs(folder, 'ana', gateway.url)
  await burst(again.space, 'after a start')
  await expect.poll(() => back.seen.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(50)
  expect(await gateway.stop('SIGTERM')).toBe(0)
  await expectInLog(folder, accepted)
})
