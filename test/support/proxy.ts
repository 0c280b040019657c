import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

export interface Proxy extends AsyncDisposable {
  readonly url: string
  /** Cuts every connection, at any point of a message. */
  cut(): void
  /**
   * Makes every open connection silent: it stays open but forwards nothing. Connections that are opened later forward. Returns
   * a function that resets the silent ones.
   */
  stop(): () => void
  /** Makes every connection silent, also those that are opened before `thaw`. */
  freeze(): void
  thaw(): void
}

/** Speed towards the client; default: unlimited. */
export interface Pace {
  readonly chunkBytes: number
  readonly everyMs: number
}

/** Starts a proxy with faults, to a port of this machine. `own`: port of the proxy; default: any free one. */
export async function proxy(port: number, own = 0, pace?: Pace): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((near) => {
    if (isFrozen) {
      sockets.add(near.on('error', () => near.destroy()))
      return
    }
    const far = connect(port, '127.0.0.1')
    near.pipe(far)
    if (pace === undefined) far.pipe(near)
    else far.pipe(throttle(pace)).pipe(near)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  }).listen(own, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const stop = (): (() => void) => {
    const silent = [...sockets]
    for (const socket of silent) socket.unpipe().pause()
    return () => {
      for (const socket of silent) socket.destroy()
    }
  }
  return {
    stop,
    freeze: () => {
      isFrozen = true
      stop()
    },
    thaw: () => {
      isFrozen = false
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}

function throttle({ chunkBytes, everyMs }: Pace): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const pass = (at: number): void => {
        this.push(chunk.subarray(at, at + chunkBytes))
        if (at + chunkBytes >= chunk.length) done()
        else setTimeout(() => pass(at + chunkBytes), everyMs)
      }
      pass(0)
    },
  })
}
