import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DraftEntry, LogStore } from '@meup/gateway'
import { type JetStreamStoreOptions, jetstreamStore } from '@meup/jetstream'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { onTestFinished } from 'vitest'
import { natsServer, startNats } from '../../../test/support/nats.js'
import { needing } from '../../../test/verifies.js'

export const withNats = needing('nats-server in the PATH, or NATS_SERVER_BIN', natsServer)

/** Starts NATS servers for one test. `store()` opens a gateway's store on them, with its own replica unless a file is named. */
export async function openNats(options: Parameters<typeof startNats>[0] = {}) {
  const nats = await startNats(options)
  const folder = mkdtempSync(join(tmpdir(), 'meup-jetstream-'))
  const stores: LogStore[] = []
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await nats.stop()
    rmSync(folder, { recursive: true })
  })
  return {
    nats,
    folder,
    async store(replica = `replica-${stores.length}.db`, more: Partial<JetStreamStoreOptions> = {}) {
      const replicas = nats.nodes.length
      const store = await jetstreamStore({
        servers: nats.servers,
        replicas,
        path: join(folder, replica),
        ...more,
      })
      stores.push(store)
      return store
    },
    /** Connects another client to the same servers. */
    async stranger() {
      const connection = await connect({ servers: [...nats.servers] })
      onTestFinished(() => connection.close())
      return { connection, js: jetstream(connection), manager: await jetstreamManager(connection) }
    },
  }
}

export function draft(seq: number, id = `e${seq}`): DraftEntry {
  const body = Buffer.from(`{"id":"${id}","payload":{"message":"number ${seq}"}}`)
  return { seq, id, ts: '2026-05-04T03:02:01.000Z', from: 'ada', kind: 'chat', body, content: body }
}

export const drafts = (from: number, to: number): DraftEntry[] =>
  Array.from({ length: to - from + 1 }, (_, i) => draft(from + i))
