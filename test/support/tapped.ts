import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** An envelope as it went over a socket. */
export interface Frame {
  readonly seq: number
  readonly from: string
  readonly kind: string
}

export interface Tapped {
  /** Stands for the gateway. */
  readonly url: string
  /** What the gateway has sent over each WebSocket, in the order in which these were opened. */
  sockets(): readonly (readonly Frame[])[]
}

/** A way to a gateway on which whatever it sends is written down. Its frames are neither masked nor compressed. */
export async function tapped(gateway: string): Promise<Tapped> {
  const { hostname, port } = new URL(gateway)
  const connections: { asked: string; sent: Buffer[] }[] = []
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const connection = { asked: '', sent: [] as Buffer[] }
    connections.push(connection)
    const upstream = connect(Number(port), hostname)
    for (const each of [client, upstream]) {
      open.add(each)
      each.on('error', () => each.destroy()) // The other end has gone.
      each.on('close', () => open.delete(each))
    }
    client.on('data', (chunk) => {
      if (connection.asked.length < 4096) connection.asked += chunk.toString('latin1')
    })
    upstream.on('data', (chunk) => connection.sent.push(chunk))
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const each of open) each.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets: () =>
      connections
        .filter(({ asked }) => /^upgrade: websocket/im.test(asked))
        .map(({ sent }) => framesIn(Buffer.concat(sent).toString())),
  }
}

const frame =
  /\{"seq":(\d+),"protocol":"[^"]*","ts":"[^"]*","from":"([^"]*)","id":"[^"]*"(?:,"to":\[[^\]]*\])?,"kind":"([^"]*)"/g

const framesIn = (bytes: string): Frame[] =>
  [...bytes.matchAll(frame)].map(([, seq, from = '', kind = '']) => ({ seq: Number(seq), from, kind }))
