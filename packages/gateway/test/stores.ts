import type { LogStore } from '@meup/gateway'
import type { StoreUnderTest } from '@meup/gateway/testing'

/** A store that can be closed, and opened again with its content. */
export async function restartable(open: () => Promise<LogStore>): Promise<StoreUnderTest> {
  const stores = [await open()]
  const close = () => Promise.all(stores.map((store) => store.close()))
  const [store] = stores
  if (store === undefined) throw new Error('nothing is open')
  return {
    store,
    async reopen() {
      await close()
      const again = await open()
      stores.push(again)
      return again
    },
    async dispose() {
      await close()
    },
  }
}
