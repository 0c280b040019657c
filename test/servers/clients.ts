/** The address of `meup mcp serve`: a command that starts it, or a URL. */
export type Address =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly url: string; readonly token: string }

/** A tool to call; without a name, the tools are listed. */
export interface Request {
  readonly name?: string
  readonly arguments?: Readonly<Record<string, unknown>>
}

export interface PublicClient {
  readonly package: string
  readonly version: string
  readonly builtWith: string
  readonly program: string
  /** Arguments of the command line for a request. `program`: path of the client. */
  readonly arguments: (address: Address, request: Request) => readonly string[]
  readonly speaks: readonly ('stdio' | 'http')[]
}

const both = ['stdio', 'http'] as const

/** A client for a version of the official SDK, which has no program of its own. */
const sdk = (version: string, speaks: PublicClient['speaks'] = both) =>
  ({
    package: '@modelcontextprotocol/sdk',
    version,
    builtWith: 'TypeScript SDK 1',
    program: '',
    speaks,
    arguments: () => [],
  }) as const

/** Clients by the name of their folder in the cache. */
export const publicClients = {
  inspector: {
    package: '@modelcontextprotocol/inspector',
    version: '2.12.0',
    builtWith: 'TypeScript SDK 2',
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
    builtWith: 'TypeScript SDK 1',
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
