import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { ServedSpace, Serving } from '@meup/mcp-bridge/serve'
import { readHostName } from '@meup/protocol'
import type { Command } from 'commander'
import { ConfigError } from '../config/config-error.js'
import { createToken, isOpenToOthers, makeTokenFolder, readTokenFile } from '../config/tokens.js'
import type { JsonOf } from '../json-outputs.js'
import {
  announceConnection,
  type ConnectionFlags,
  createHttpClient,
  enterSpace,
  withConnection,
} from '../lib/connection.js'
import { invalidValue, UsageError } from '../lib/exit.js'
import { findGiven } from '../lib/options.js'
import { print, printJson, printNotice } from '../lib/output.js'

/** `meup mcp serve`: the space as an MCP server. */
export function addMcp(program: Command): void {
  const group = program.command('mcp').description('use a space from programs that speak MCP')
  withConnection(group.command('serve'), 'with --http: print one JSON line when listening')
    .description(
      'be an MCP server on stdin and stdout, or over HTTP, for clients that act as one participant',
    )
    .option('--http <port>', 'listen on this port of 127.0.0.1 instead; 0 = any free one')
    .option(
      '--access-token-file <file>',
      'with --http: token that clients must send; made if it is missing (default: .meup/mcp-token)',
    )
    .option(
      '--host <name>',
      'with --http: a name under which clients reach it, such as host.docker.internal, in addition to localhost and gateway.hosts; repeatable',
      (name: string, names: readonly string[]) => [...names, parseHost(name)],
      [],
    )
    .action(async ({ http, ...flags }: ServeFlags & { http?: string }) => {
      const port = http === undefined ? undefined : parsePort(http)
      const { json, accessTokenFile, host } = flags
      const option = findGiven({ '--json': json, '--access-token-file': accessTokenFile, '--host': host[0] })
      if (port === undefined && option !== undefined)
        throw new UsageError('option_needed', { option, needed: '--http' })
      await serveMcp(port, flags)
    })
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw invalidValue('--http', 'port', text)
}

function parseHost(text: string): string {
  const name = readHostName(text)
  if (name !== undefined && /^[a-z0-9.-]+$/.test(name)) return name
  throw invalidValue('--host', text.includes('*') ? 'exactHost' : 'host', text)
}

interface ServeFlags extends ConnectionFlags {
  readonly accessTokenFile?: string
  readonly host: readonly string[]
}

const configFile = 'space.yaml'

/** The host names of this folder's gateway; empty without a configuration. */
async function readGatewayHosts(): Promise<readonly string[]> {
  if (!existsSync(configFile)) return []
  try {
    const { loadConfig } = await import('../config/load.js')
    return loadConfig(configFile).gateway.hosts
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    printNotice(`the names in gateway.hosts are not used, as ${configFile} has mistakes: ${error.message}`)
    return []
  }
}

/** Serves a space as an MCP server over stdio or HTTP. Resolves when the client disconnects, or on SIGINT or SIGTERM. */
async function serveMcp(port: number | undefined, flags: ServeFlags): Promise<void> {
  const access = port === undefined ? undefined : { port, ...accessToken(flags.accessTokenFile) }
  const http = createHttpClient(flags)
  // Imported before joining the space, because replayed envelopes would otherwise arrive before the server handles them.
  const server = await loadServer()
  const space = await enterSpace(flags, { openProposals: true })
  announceConnection(space, printNotice)
  const served = { space, http, log: printNotice }
  const signalled = new Promise<undefined>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(undefined))
  })
  const serving =
    access === undefined
      ? server.serveSpaceOverStdio(served)
      : await serveOverHttp(server, served, access, flags)
  const error = await Promise.race([serving.ended, signalled])
  await serving.close()
  if (error !== undefined) throw error
}

// Imported lazily: the MCP SDK would slow down every other command.
const loadServer = () => import('@meup/mcp-bridge/serve')

async function serveOverHttp(
  { serveSpaceOverHttp }: Awaited<ReturnType<typeof loadServer>>,
  served: ServedSpace,
  { port, file, token }: { port: number; file: string; token: string },
  { json, host }: ServeFlags,
): Promise<Serving> {
  const hosts = [...(await readGatewayHosts()), ...host]
  const serving = await serveSpaceOverHttp(served, { port, token, hosts }).catch(
    (error: NodeJS.ErrnoException) => {
      served.space.close()
      throw error.code === 'EADDRINUSE'
        ? new Error(`port ${port} is in use: give another one to --http`)
        : error
    },
  )
  const { url } = serving
  if (json) printJson<JsonOf<'mcp serve'>>({ event: 'listening', url, tokenFile: file, pid: process.pid })
  else {
    print(url)
    printNotice(`clients send the token in ${file} as Authorization: Bearer <token>`)
  }
  return serving
}

const defaultFile = '.meup/mcp-token'

/**
 * Reads the access token from a file, by default next to the tokens of participants, or creates it. Throws `UsageError` if the
 * content is not a token.
 */
function accessToken(given?: string): { readonly file: string; readonly token: string } {
  const file = given ?? defaultFile
  if (given === undefined) makeTokenFolder('.')
  mkdirSync(dirname(resolve(file)), { recursive: true, mode: 0o700 })
  createToken(file)
  const found = readTokenFile(file)
  if (found.state === 'unusable') throw found.problem
  if (found.state !== 'valid') throw new UsageError('revoked_token_file', { file })
  if (isOpenToOthers(file)) printNotice(`others on this machine may read ${file}: chmod 600 it`)
  return { file, token: found.token }
}
