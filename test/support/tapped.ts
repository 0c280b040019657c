import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** An envelope that went over a socket. */
export interface Frame {
  readonly seq: number
  readonly from: string
  readonly kind: string
}

export interface Tapped {
  /** URL of the proxy, to use instead of the gateway's. */
  readonly url: string
  /** Frames from the gateway, for each WebSocket in the order of opening. */
  sockets(): readonly (readonly Frame[])[]
  /** Text frames from clients, over all WebSockets, one WebSocket after the other. */
  sent(): readonly string[]
}

/** Starts a proxy to a gateway that records both directions. It prevents compression, so that frames are readable. */
export async function tapped(gateway: string): Promise<Tapped> {
  const { hostname, port } = new URL(gateway)
  const connections: { asked: Buffer[]; sent: Buffer[] }[] = []
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const connection = { asked: [] as Buffer[], sent: [] as Buffer[] }
    connections.push(connection)
    const upstream = connect(Number(port), hostname)
    for (const each of [client, upstream]) {
      open.add(each)
      each.on('error', () => each.destroy()) // The other end has gone.
      each.on('close', () => open.delete(each))
    }
    client.on('data', (chunk) => connection.asked.push(chunk))
    upstream.on('data', (chunk) => connection.sent.push(chunk))
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const each of open) each.destroy()
    server.close()
  })
  const sockets = () =>
    connections
      .map(({ asked, sent }) => ({ asked: Buffer.concat(asked), sent: Buffer.concat(sent) }))
      .filter(({ asked }) => /^upgrade: websocket/im.test(asked.subarray(0, 4096).toString('latin1')))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets: () =>
      sockets().map(({ sent }) =>
        readTexts(sent)
          .map((text): Frame => JSON.parse(text))
          .filter(isLogged),
      ),
    sent: () => sockets().flatMap(({ asked }) => readTexts(asked)),
  }
}

const isLogged = ({ seq }: Partial<Frame>): boolean => seq !== undefined

/** Reads the text frames after the handshake. Each frame must be one message [RFC 6455, 5.2]. */
function readTexts(bytes: Buffer): string[] {
  const texts: string[] = []
  for (let at = bytes.indexOf('\r\n\r\n') + 4; at + 10 <= bytes.length; ) {
    const [isText, second] = [bytes.readUInt8(at) === 0x81, bytes.readUInt8(at + 1)]
    const [isMasked, short] = [second >= 0x80, second & 0x7f]
    const [length, lengthBytes] =
      short === 127
        ? [Number(bytes.readBigUInt64BE(at + 2)), 8]
        : short === 126
          ? [bytes.readUInt16BE(at + 2), 2]
          : [short, 0]
    const key = at + 2 + lengthBytes
    const start = key + (isMasked ? 4 : 0)
    const content = bytes.subarray(start, start + length)
    if (content.length < length) break
    const unmasked = isMasked ? content.map((byte, n) => byte ^ bytes.readUInt8(key + (n % 4))) : content
    if (isText) texts.push(Buffer.from(unmasked).toString())
    at = start + length
  }
  return texts
}
