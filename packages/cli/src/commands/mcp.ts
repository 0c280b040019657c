import type { Command } from 'commander'
import { withConnection } from '../connection.js'
import { UsageError } from '../exit.js'
import type { ServeFlags } from '../mcp/serve.js'

/** `meup mcp serve`: the space as an MCP server. What it needs is loaded when it runs. */
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
    .action(async ({ http, ...flags }: ServeFlags & { http?: string }) => {
      const port = http === undefined ? undefined : portOf(http)
      if (port === undefined && (flags.json || flags.accessTokenFile !== undefined)) {
        throw new UsageError('--json and --access-token-file go with --http')
      }
      const { serveMcp } = await import('../mcp/serve.js')
      await serveMcp(port, flags)
    })
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new UsageError(`--http takes a port, not ${text}`)
}
