import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { ConnectionError } from '@meup/agent-sdk'
import { type ConnectionFlags, destination } from '../connection.js'
import { UsageError } from '../exit.js'
import { tell } from '../output.js'
import { openStream } from '../reading.js'

export interface ExportFlags extends ConnectionFlags {
  readonly format: string
  readonly output?: string
}

/** `meup audit export`: the log as this participant may see it, byte for byte as the gateway sends it. */
export async function exportAudit({ format, output, ...flags }: ExportFlags): Promise<void> {
  if (output === undefined && process.stdout.isTTY) {
    throw new UsageError('an export is for a file: add -o <file>, or send it elsewhere with > or |')
  }
  const { body } = await openStream(destination(flags), 'audit/export', { format })
  if (body === null) throw new ConnectionError('closed', 'the gateway sent no export; is this a gateway?')
  if (output === undefined) await pipeline(whole(body), process.stdout, { end: false })
  else await writeFile(whole(body), output)
}

/** Rejects where it breaks off. */
async function* whole(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body
  } catch (cause) {
    const advice = 'the log may have been pruned meanwhile, or the line has broken; export it again'
    throw new ConnectionError('closed', `the export broke off before its end: ${advice}`, { cause })
  }
}

/** For its owner only. Takes the place of an older file when it is complete, and not before. */
async function writeFile(pieces: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const part = `${path}.part`
  try {
    await pipeline(pieces, createWriteStream(part, { mode: 0o600 }))
    renameSync(part, path)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
  tell(`${path} is written; meup audit verify ${path} checks it`)
}
