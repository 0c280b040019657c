import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startMeup, temporaryFolder } from '../support/cli.js'
import { type Accepted, crowdConfig, enterAs, expectInLog, expectNoGap } from '../support/crowd.js'

/** Allows for the start of several processes. */
const patient = { timeout: 180_000 }

test(
  'a second gateway on one file refuses to start, the first goes on, and nothing acknowledged is lost',
  patient,
  async () => {
    const folder = temporaryFolder({ 'space.yaml': crowdConfig() })
    const gateway = await startMeup('gateway', folder)
    const ana = await enterAs(folder, 'ana', gateway.url)
    const accepted: Accepted[] = [await ana.space.chat('before')]
    const second = startMeup('gateway', folder)
    const burst = Array.from({ length: 200 }, (_, number) => ana.space.chat(`meanwhile ${number}`))
    await expect(second).rejects.toThrow(/ended with [1-9].*(?:another|already)/s)
    accepted.push(...(await Promise.all(burst)), await ana.space.chat('after'))
    expectNoGap(ana.seen)
    // After the first gateway was killed, without cleaning up, another one can open the file.
    await gateway.stop('SIGKILL')
    const third = await startMeup('gateway', folder)
    const back = await enterAs(folder, 'ben', third.url)
    accepted.push(await back.space.chat('again'))
    expect(await third.stop('SIGTERM')).toBe(0)
    await expectInLog(folder, accepted)
  },
)

/** Offset of `user_version` in a SQLite file. */
const versionAt = 60

/** Writes another schema version into the file of a stopped gateway. Returns the original version. */
function remark(folder: string, version: number): number {
  const file = openSync(join(folder, '.meup/space.db'), 'r+')
  try {
    const bytes = Buffer.alloc(4)
    readSync(file, bytes, 0, 4, versionAt)
    const before = bytes.readUInt32BE()
    bytes.writeUInt32BE(version)
    writeSync(file, bytes, 0, 4, versionAt)
    return before
  } finally {
    closeSync(file)
  }
}

test(
  'a file of another version is refused and left as it is: nothing acknowledged is lost',
  patient,
  async () => {
    const folder = temporaryFolder({ 'space.yaml': crowdConfig() })
    const gateway = await startMeup('gateway', folder)
    const ana = await enterAs(folder, 'ana', gateway.url)
    const accepted = await Promise.all(Array.from({ length: 50 }, (_, number) => ana.space.chat(`${number}`)))
    expect(await gateway.stop('SIGTERM')).toBe(0)

    const version = remark(folder, 1000)
    await expect(startMeup('gateway', folder)).rejects.toThrow(
      /ended with [1-9].*has format 1000, and this gateway reads format/s,
    )
    expect(remark(folder, version)).toBe(1000)
    const again = await startMeup('gateway', folder)
    expect(await again.stop('SIGTERM')).toBe(0)
    await expectInLog(folder, accepted)
  },
)
