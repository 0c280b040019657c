import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeEnvelopeLog } from '@meup/gateway/testing'
import { jetstreamStore } from '@meup/jetstream'
import { describe, test } from 'vitest'
import { natsServer, startNats } from '../../../../test/support/nats.js'
import { needing } from '../../../../test/verifies.js'
import { restartable } from '../../../gateway/test/stores.js'

const withNats = needing('nats-server in the PATH, or NATS_SERVER_BIN', natsServer)

describeEnvelopeLog(
  'jetstream log',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'meup-log-'))
    const nats = await startNats({ more: 'max_payload: 4MB' })
    const path = join(directory, 'replica.db')
    const opened = await restartable(() => jetstreamStore({ servers: nats.servers, replicas: 1, path }))
    const dispose = async () => {
      await opened.dispose()
      await nats.stop()
      rmSync(directory, { recursive: true })
    }
    return { ...opened, dispose }
  },
  { describe, test: (title, body) => test(title, withNats(body)) },
)
