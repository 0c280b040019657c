import { expect, test } from 'vitest'
import { spawnMeup, startMeup, temporaryFolder } from '../support/cli.js'
import { type Accepted, crowdConfig, enterAs, expectInLog, expectNoGap, metricOf } from '../support/crowd.js'
import { times } from '../support/soak.js'

/** Number of times that the reader is stopped. */
const rounds = times(1, 20)
/** Mebibytes of messages, which are more than the buffers of the socket and of the gateway hold. */
const maxMebibytes = 64
const message = 'x'.repeat(32 * 1024)
const perMebibyte = 32

test(
  `${rounds} times SIGSTOP of a reader: it is cut, the others go on, and it resumes without a gap; nothing acknowledged is lost`,
  async () => {
    const folder = temporaryFolder({ 'space.yaml': crowdConfig(0, 'sendBufferBytes: 1048576') })
    const gateway = await startMeup('gateway', folder)
    const ana = await enterAs(folder, 'ana', gateway.url)
    const ben = await enterAs(folder, 'ben', gateway.url)
    const watcher = spawnMeup(['watch', '--as', 'reader', '--json', '--from', '1'], folder)
    const heard = (): number[] =>
      watcher.said.stdout
        .split('\n')
        .slice(0, -1)
        .flatMap((line) => (JSON.parse(line) as { seq?: number }).seq ?? [])
    const accepted: Accepted[] = []
    const say = async (text: string): Promise<number> => {
      const said = await ana.space.send({ kind: 'chat', payload: { message: text } })
      accepted.push(said)
      return said.seq ?? 0
    }

    for (let round = 1; round <= rounds; round++) {
      const first = await say(`round ${round}`)
      await expect.poll(() => heard().at(-1) ?? 0, { timeout: 60_000 }).toBeGreaterThanOrEqual(first)
      watcher.process.kill('SIGSTOP')
      const cuts = () => metricOf(gateway.url, 'meup_slow_closes_total')
      for (let sent = 0; (await cuts()) < round; sent++) {
        expect(sent).toBeLessThan(maxMebibytes)
        await Promise.all(Array.from({ length: perMebibyte }, () => say(message)))
      }
      expect(await cuts()).toBe(round)
      // The other reader received everything while the first one was stopped.
      const last = await say('behind it')
      await expect.poll(() => ben.seen.at(-1) ?? 0, { timeout: 30_000 }).toBeGreaterThanOrEqual(last)
      watcher.process.kill('SIGCONT')
      await expect.poll(() => heard().at(-1) ?? 0, { timeout: 60_000 }).toBeGreaterThanOrEqual(last)
    }

    expectNoGap(heard())
    expect(heard()[0]).toBe(1)
    expectNoGap(ben.seen)
    expect(await gateway.stop('SIGTERM')).toBe(0)
    await expectInLog(folder, accepted)
  },
  rounds * 120_000,
)
