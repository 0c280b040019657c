import { createHash } from 'node:crypto'
import { type LogStore, sqliteStore } from '@meup/gateway'

const sha256 = (...parts: (Uint8Array | string)[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Reads the ids of a log in order. Throws if the recomputed chain differs from the stored one [MEUP-10.2]. */
export async function verifiedIds(path: string, space: string): Promise<string[]> {
  return verifiedIdsIn(await sqliteStore({ path }), space)
}

/** Reads the ids of a log in any store, like `verifiedIds`. Closes the store. */
export async function verifiedIdsIn(store: LogStore, space: string): Promise<string[]> {
  const log = await store.open(space)
  const ids: string[] = []
  let hash = sha256(log.epoch)
  while (ids.length < log.head) {
    for (const row of await log.read({ after: ids.length, limit: 1000 })) {
      if (row.seq !== ids.length + 1) throw new Error(`seq ${row.seq} follows ${ids.length}`)
      const leaf = sha256(row.salt, row.body)
      const place = Buffer.alloc(8)
      place.writeBigUInt64BE(BigInt(row.seq))
      hash = sha256(hash, place, leaf)
      if (!hash.equals(row.hash) || !leaf.equals(row.leaf)) throw new Error(`the chain breaks at ${row.seq}`)
      ids.push(row.id)
    }
  }
  await store.close()
  return ids
}
