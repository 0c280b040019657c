import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A way to a port on which everything can stop without a word: no data, no end, no reset. Until the test is over. */
export async function stoppingProxy(port: number) {
  const open = new Set<Socket>()
  const stopped = new WeakSet<Socket>()
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from)
      from.on('data', (data) => !stopped.has(from) && to.write(data))
      from.on('error', () => from.destroy())
      from.on('close', () => {
        open.delete(from)
        if (!stopped.has(from)) to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** What is open forwards nothing any more; what comes after that does. Gives a way to reset it at last. */
    stop: (): (() => void) => {
      const dead = [...open]
      for (const socket of dead) stopped.add(socket)
      return () => {
        for (const socket of dead) socket.destroy()
      }
    },
  }
}
