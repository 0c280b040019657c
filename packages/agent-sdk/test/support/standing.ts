import {
  type GatewayOptions,
  type LogStore,
  memoryStore,
  type Served,
  type ServeOptions,
  serve,
} from '@meup/gateway'
import { createTestGateway, type TestSpaceOptions } from '@meup/gateway/testing'

export type OpenStore = () => LogStore | Promise<LogStore>

/** A log in memory that several gateways can use one after another. */
export function lastingMemory(): OpenStore {
  const spaces: NonNullable<Parameters<typeof memoryStore>[0]> = new Map()
  return () => memoryStore(spaces)
}

/** A gateway on a real socket that can be stopped, and started again at the same address. */
export interface Standing extends AsyncDisposable {
  readonly url: string
  readonly port: number
  stop(): Promise<void>
  /** Starts the gateway with the same log, unless `open` is given. */
  start(open?: OpenStore): Promise<void>
}

export async function standing(
  {
    heartbeatMs,
    ...options
  }: TestSpaceOptions & Pick<ServeOptions, 'heartbeatMs'> & Partial<Pick<GatewayOptions, 'clock'>>,
  log = lastingMemory(),
): Promise<Standing> {
  let [served, port]: [Served | undefined, number] = [undefined, 0]
  const start = async (open = log): Promise<void> => {
    const gateway = await createTestGateway({ ...options, store: await open() })
    served = await serve({ gateway, host: '127.0.0.1', port, ...(heartbeatMs && { heartbeatMs }) })
    port = Number(new URL(served.url).port)
  }
  const stop = async (): Promise<void> => {
    await served?.close()
    served = undefined
  }
  await start()
  return { url: `http://127.0.0.1:${port}`, port, start, stop, [Symbol.asyncDispose]: stop }
}
