import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sqliteStore } from '@meup/gateway'
import { expect, test } from 'vitest'
import {
  contentOf,
  currentVersion,
  tablesOf,
  writeVersion,
} from '../../packages/gateway/test/old-versions.js'
import { temporaryFolder } from '../support/cli.js'
import { hasStrace } from '../support/faults.js'
import { times } from '../support/soak.js'
import { needing } from '../verifies.js'

const withStrace = needing('strace, and the right to trace', hasStrace)
const script = fileURLToPath(new URL('../../packages/gateway/test/fixtures/open-log.mjs', import.meta.url))

/** What changes a file or makes sure of it. */
const calls = 'pwrite64,fsync,fdatasync,ftruncate,unlink'

/**
 * Opens the log, and is killed as its n-th call of these begins. Gives whether there were fewer. Without `--seccomp-bpf`:
 * with it, some kernels count no further than the first.
 */
function openUntilCall(path: string, n: number): boolean {
  const inject = `inject=${calls}:signal=KILL:when=${n}`
  const args = ['-f', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', inject]
  const { status, signal } = spawnSync('strace', [...args, process.execPath, script, path], {
    stdio: 'inherit',
  })
  if (status !== 0 && signal !== 'SIGKILL') throw new Error(`the script ended with ${status ?? signal}`)
  return status === 0
}

test(
  'a migration that is killed, wherever it is, leaves the old schema or the new one, and all data',
  withStrace(async () => {
    const folder = temporaryFolder()
    const original = join(folder, 'original.db')
    writeVersion(1, original, 50)
    const { data } = contentOf(original)
    /** The version that each of these left. */
    const found = new Map<number, number>()
    /** Whether the script ended before its n-th call. */
    const check = async (n: number): Promise<boolean> => {
      const path = join(folder, `${n}.db`)
      copyFileSync(original, path)
      const isThrough = openUntilCall(path, n)
      const { version, ...content } = contentOf(path)
      found.set(n, Number(version))
      const tables = tablesOf(Number(version))
      expect(content, `killed at call ${n}`).toEqual({ tables, data })

      const store = await sqliteStore({ path })
      expect((await store.open('main')).head).toBe(50)
      await store.close()
      expect(contentOf(path)).toMatchObject({ version: currentVersion, data })
      return isThrough
    }
    // Each of the first calls, where it begins, then a few of the many pages that are written.
    for (let n = 1; !(await check(n)); n += n < times(4, 20) ? 1 : times(40, 9));
    // Between two of them several versions may have been passed.
    for (;;) {
      const inOrder = [...found].sort(([one], [other]) => one - other)
      const at = inOrder.findIndex(([n, version], index) => {
        const [next = n, later = version] = inOrder[index + 1] ?? []
        return later - version > 1 && next - n > 1
      })
      const [[n = 0] = [], [next = 0] = []] = [inOrder[at] ?? [], inOrder[at + 1] ?? []]
      if (at === -1) break
      await check((n + next) >> 1)
    }
    expect([...new Set(found.values())].sort(), 'all were seen').toEqual(
      Array.from({ length: currentVersion }, (_, index) => index + 1),
    )
  }),
  240_000,
)
