import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { ConnectionError } from '@meup/agent-sdk'
import { anyContext, parseContext } from '@meup/protocol'
import { type ConnectionFlags, destination } from '../connection.js'
import { UsageError } from '../exit.js'
import { tell } from '../output.js'
import { openStream } from '../reading.js'
import { threadOf } from '../reasoning/read-turns.js'

export interface ExportFlags extends ConnectionFlags {
  readonly format: 'jsonl' | 'markdown' | 'sqlite'
  readonly output?: string
  readonly thread?: string
  readonly turn?: string
  readonly context?: string
}

/** `meup audit export`: the log as this participant may see it, or its trail, byte for byte as the gateway sends it. */
export async function exportAudit({ output, ...flags }: ExportFlags): Promise<void> {
  const isForPeople = flags.format === 'markdown'
  const part = flags.thread === undefined ? flags.context && '--context' : '--thread'
  if (part && !isForPeople) {
    throw new UsageError(`${part} needs --format markdown: a part of the log could not be verified`)
  }
  checkContext(flags)
  if (output === undefined && process.stdout.isTTY && !isForPeople) {
    throw new UsageError('an export is for a file: add -o <file>, or send it elsewhere with > or |')
  }
  const pieces = await openExport(flags)
  if (output === undefined) {
    await pipeline(pieces, process.stdout, { end: false })
    return
  }
  await writeFile(pieces, output)
  tell(`${output} is written${isForPeople ? '' : `; meup audit verify ${output} checks it`}`)
}

/** An export, piece by piece as the gateway sends it. Rejects where it breaks off. */
export async function openExport({
  format = 'jsonl',
  thread,
  turn,
  context,
  ...flags
}: Partial<ExportFlags>): Promise<AsyncIterable<Uint8Array>> {
  const at = destination(flags)
  const path = context === undefined ? 'audit/export' : `contexts/${encodePath(context)}`
  const { body } = await openStream(at, path, {
    format,
    ...(thread !== undefined && { thread_id: threadOf(at.space, thread) }),
    ...(turn !== undefined && { turn }),
  })
  if (body === null) throw new ConnectionError('closed', 'the gateway sent no export; is this a gateway?')
  return whole(body)
}

function checkContext({ context, thread }: Pick<ExportFlags, 'context' | 'thread'>): void {
  if (context === undefined) return
  if (thread !== undefined) throw new UsageError('use either --context or --thread, not both')
  if (parseContext(context, anyContext) === undefined)
    throw new UsageError(`--context is a path such as run or run/step, not ${context}`)
}

const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

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
}
