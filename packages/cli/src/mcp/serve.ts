import type { DialRequest, SpaceClient } from '@meup/agent-sdk'
import {
  type ServedSpace,
  type Serving,
  type SpaceReading,
  serveSpaceOverHttp,
  serveSpaceOverStdio,
} from '@meup/mcp-bridge/serve'
import { type ConnectionFlags, destination, enter } from '../connection.js'
import { print, printJson, tell } from '../output.js'
import { ask, openStream } from '../reading.js'
import { isOpen, readProposals } from '../trust/proposal-list.js'
import { accessToken } from './access-token.js'

export interface ServeFlags extends ConnectionFlags {
  readonly accessTokenFile?: string
}

/** Envelopes of the past in which a proposal is found that was made since the log was read. */
const margin = 100

/** Serves a space over stdin and stdout, or on a port. Resolves when the client has gone, or on SIGINT or SIGTERM. */
export async function serveMcp(port: number | undefined, flags: ServeFlags): Promise<void> {
  const access = port === undefined ? undefined : { port, ...accessToken(flags.accessTokenFile) }
  const at = destination(flags)
  const space = await enterWithProposals(at, flags)
  const served = { space, reading: readingOf(at), log: tell }
  const signalled = new Promise<undefined>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(undefined))
  })
  const serving = access === undefined ? serveSpaceOverStdio(served) : await listen(served, access, flags)
  const error = await Promise.race([serving.ended, signalled])
  await serving.close()
  if (error !== undefined) throw error
}

/** Enters where the oldest open proposal was made, so that this connection knows it to the letter. */
async function enterWithProposals(at: DialRequest, flags: ConnectionFlags): Promise<SpaceClient> {
  const now = Date.now()
  const oldest = (await readProposals(at)).find((each) => isOpen(each, now))
  const space = await enter(flags, oldest === undefined ? { tail: margin } : { after: oldest.source.seq - 1 })
  const { head } = space.welcome.space
  // It offers nothing. What was asked before it came was answered, or not, by whoever sat here then.
  space.serve(({ seq = 0 }) => (seq <= head ? new Promise(() => {}) : Promise.resolve(undefined)))
  return space
}

const readingOf = (at: DialRequest): SpaceReading => ({
  json: (path, query) => ask(at, path, query),
  text: async (path, query) => (await openStream(at, path, query)).text(),
})

async function listen(
  served: ServedSpace,
  { port, file, token }: { port: number; file: string; token: string },
  { json }: ServeFlags,
): Promise<Serving> {
  const serving = await serveSpaceOverHttp(served, { port, token }).catch((error: NodeJS.ErrnoException) => {
    served.space.close()
    throw error.code === 'EADDRINUSE'
      ? new Error(`port ${port} is in use: give another one to --http`)
      : error
  })
  const { url } = serving
  if (json) printJson({ event: 'listening', url, tokenFile: file, pid: process.pid })
  else {
    print(url)
    tell(`clients send the token in ${file} as Authorization: Bearer <token>`)
  }
  return serving
}
