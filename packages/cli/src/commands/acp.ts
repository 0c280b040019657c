import { omitUndefined } from '@meup/protocol'
import type { Command } from 'commander'
import {
  announceConnection,
  type ConnectionFlags,
  createHttpClient,
  enterSpace,
  withTarget,
} from '../lib/connection.js'
import { printNotice } from '../lib/output.js'

interface AcpFlags extends ConnectionFlags {
  readonly to?: string
}

/** `meup acp`: serves the agents of a space to editors and other ACP clients. */
export function addAcp(program: Command): void {
  withTarget(program.command('acp'))
    .description('be an ACP agent on stdin and stdout, for an editor whose user asks the agents of a space')
    .option('--to <participant>', 'whom new sessions ask (default: the first agent of the space)')
    .action(serveAcp)
}

/** Resolves when the client disconnects, or on SIGINT or SIGTERM. Only ACP messages are written to stdout. */
async function serveAcp({ to, ...flags }: AcpFlags): Promise<void> {
  const http = createHttpClient(flags)
  // Imported before joining the space, because replayed envelopes would otherwise arrive before the server handles them.
  // Imported lazily, because only this command needs it.
  const server = await import('@meup/acp/serve')
  const space = await enterSpace(flags, { openProposals: true })
  announceConnection(space, printNotice)
  const signalled = new Promise<undefined>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(undefined))
  })
  const serving = server.serveAcp({ space, http, log: printNotice, ...omitUndefined({ to }) })
  const error = await Promise.race([serving.ended, signalled])
  await serving.close()
  if (error !== undefined) throw error
}
