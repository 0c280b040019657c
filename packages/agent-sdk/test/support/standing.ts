import { memoryStore, type Served, serve } from '@meup/gateway'
import { createTestGateway, type TestSpaceOptions } from '@meup/gateway/testing'

type Log = NonNullable<Parameters<typeof memoryStore>[0]>

/** A gateway on a real socket that can be stopped and started again at the same address. */
export interface Standing extends AsyncDisposable {
  readonly url: string
  stop(): Promise<void>
  /** With the log as it was, unless another one is given. */
  start(log?: Log): Promise<void>
}

export async function standing(options: TestSpaceOptions): Promise<Standing> {
  const logs: Log = new Map()
  let [served, port]: [Served | undefined, number] = [undefined, 0]
  const start = async (log: Log = logs): Promise<void> => {
    const gateway = await createTestGateway({ ...options, store: memoryStore(log) })
    served = await serve({ gateway, host: '127.0.0.1', port })
    port = Number(new URL(served.url).port)
  }
  const stop = async (): Promise<void> => {
    await served?.close()
    served = undefined
  }
  await start()
  return { url: `http://127.0.0.1:${port}`, start, stop, [Symbol.asyncDispose]: stop }
}
