import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, sqliteStore } from '@meup/gateway'
import { describeProjection } from '@meup/gateway/testing'
import { describe, test } from 'vitest'
import { restartable } from './stores.js'

describeProjection(
  'a projection in memory',
  async () => {
    const spaces = new Map()
    return restartable(async () => memoryStore(spaces))
  },
  { describe, test },
)

describeProjection(
  'a projection in SQLite',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'meup-projection-'))
    const opened = await restartable(() => sqliteStore({ path: join(directory, 'log.db') }))
    const dispose = async () => {
      await opened.dispose()
      rmSync(directory, { recursive: true })
    }
    return { ...opened, dispose }
  },
  { describe, test },
)
