import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { environment, type Outcome } from '../support/cli.js'
import { type Address, type ClientName, type PublicClient, publicClients, type Request } from './clients.js'
import { install } from './install.js'

const sdkClient = fileURLToPath(new URL('sdk-client.mjs', import.meta.url))

/** Sends one request with a client program, and waits for its end. */
export async function runClient(
  name: ClientName,
  address: Address,
  request: Request,
  cwd: string,
): Promise<Outcome> {
  const client: PublicClient = publicClients[name]
  const program = await install(name, client)
  const args =
    client.program === ''
      ? [sdkClient, dirname(dirname(program)), JSON.stringify(address), JSON.stringify(request)]
      : client.arguments(address, request)
  return new Promise((resolve) => {
    const child = execFile(
      client.program === '' ? process.execPath : program,
      args,
      { cwd, env: environment({ HOME: cwd, NO_COLOR: '1', DO_NOT_TRACK: '1' }), timeout: 60_000 },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    )
    child.stdin?.end()
  })
}
