import { createServer } from 'node:net'
import { Failure } from '../failure/failure.js'

/** `127.0.0.1:8080` or `[::1]:8080`. */
export const formatAddress = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Tries to listen at an address; returns the error, if there is one. */
export function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

/** Ports that are tried. */
const maxPorts = 20

/** The first free port from this one on; `undefined` if there is none among the next 20. */
export async function findFreePort(host: string, first: number): Promise<number | undefined> {
  for (let port = first; port < Math.min(first + maxPorts, 65_536); port++) {
    if ((await tryToListen(host, port)) === undefined) return port
  }
  return undefined
}

/** The error of a gateway that cannot listen, with what to do about it; others stay as they are. */
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
