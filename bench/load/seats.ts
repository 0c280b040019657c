import type { Running } from '../peers/contenders.js'
import { type Connection, openLine } from './line.js'
import type { Expected } from './message-reader.js'

/** Number of connections that are opened at once: fewer than a gateway allows to be unauthenticated. */
const together = 16
/** Bounds that no message has, so that none is counted. */
const nothing: Expected = { least: Number.POSITIVE_INFINITY, maximum: 0 }

/** Opens a connection for each name, several at a time. Returns them in the order of the names. */
export async function openSeats(
  server: Running,
  names: readonly string[],
  expected: Expected = nothing,
): Promise<Connection[]> {
  const lines: Connection[] = []
  for (let at = 0; at < names.length; at += together) {
    const some = names.slice(at, at + together)
    const opened = some.map((participant) =>
      openLine(server, { participant, token: server.tokenOf(participant) }, expected),
    )
    lines.push(...(await Promise.all(opened)))
  }
  return lines
}
