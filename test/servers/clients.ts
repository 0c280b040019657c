import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { environment, type Outcome } from '../support/cli.js'
import { install } from './install.js'

/** Where `meup mcp serve` is: a command that starts it, or its address. */
export type Address =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly url: string; readonly token: string }

/** A tool to call; without a name, the tools are listed. */
interface Request {
  readonly name?: string
  readonly arguments?: Readonly<Record<string, unknown>>
}

interface PublicClient {
  readonly package: string
  readonly version: string
  readonly program: string
  /** Its command line for a request; `program` is the path of its program. */
  readonly arguments: (address: Address, request: Request) => readonly string[]
  readonly speaks: readonly ('stdio' | 'http')[]
}

const both = ['stdio', 'http'] as const
const sdkClient = fileURLToPath(new URL('sdk-client.mjs', import.meta.url))

/** A version of the official SDK, which has no program of its own. */
const sdk = (version: string, speaks: PublicClient['speaks'] = both) =>
  ({ package: '@modelcontextprotocol/sdk', version, program: '', speaks, arguments: () => [] }) as const

/** Clients by the name of their folder in the cache. */
export const publicClients = {
  inspector: {
    package: '@modelcontextprotocol/inspector',
    version: '2.12.0',
    program: 'mcp-inspector',
    speaks: both,
    arguments: (address, { name, arguments: given = {} }) => [
      '--cli',
      ...('url' in address
        ? [address.url, '--header', `Authorization: Bearer ${address.token}`]
        : [address.command, ...address.args]),
      ...(name === undefined
        ? ['--method', 'tools/list']
        : ['--method', 'tools/call', '--tool-name', name, ...toolArguments(given)]),
    ],
  },
  mcporter: {
    package: 'mcporter',
    version: '0.12.3',
    program: 'mcporter',
    speaks: both,
    arguments: (address, { name, arguments: given = {} }) => [
      name === undefined ? 'list' : 'call',
      ...('url' in address
        ? ['--http-url', address.url, '--allow-http', '--header', `Authorization=Bearer ${address.token}`]
        : ['--stdio', address.command, ...address.args.flatMap((each) => ['--stdio-arg', each])]),
      '--name',
      'space',
      ...(name === undefined
        ? ['--json']
        : ['--tool', name, '--args', JSON.stringify(given), '--output', 'json']),
    ],
  },
  'sdk-1.0': sdk('1.0.4', ['stdio']),
  'sdk-1.12': sdk('1.12.3'),
  'sdk-1.18': sdk('1.18.2'),
} as const satisfies Readonly<Record<string, PublicClient>>

export type ClientName = keyof typeof publicClients

const toolArguments = (given: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(given).flatMap(([key, value]) => ['--tool-arg', `${key}=${JSON.stringify(value)}`])

/** Sends one request by a client, to its end. */
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
