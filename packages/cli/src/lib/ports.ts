import { createServer } from 'node:net'
import { Failure } from '../failure/failure.js'

/** Formats an address, such as `127.0.0.1:8080` or `[::1]:8080`. */
export const formatAddress = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Tries to listen on an address; resolves to the error, if any. */
export function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

const maxPorts = 20

/** The first free port of the 20 ports from `first` on; `undefined` if all are taken. */
export async function findFreePort(host: string, first: number): Promise<number | undefined> {
  for (let port = first; port < Math.min(first + maxPorts, 65_536); port++) {
    if ((await tryToListen(host, port)) === undefined) return port
  }
  return undefined
}

/** Adds advice to the error of a gateway that cannot listen; returns other errors unchanged. */
export function explainListenError(error: unknown, address: string): unknown {
  const options = { cause: error }
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Failure('port_taken', { address }, options)
    case 'EACCES':
      return new Failure('port_forbidden', { address }, options)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Failure('unknown_address', { address }, options)
  }
  return error
}
