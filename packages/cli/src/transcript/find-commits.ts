import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { LogEntry } from '@meup/agent-sdk/transcript'
import { type KeptEntry, TranscriptFile } from '@meup/agent-sdk/transcript/file'
import { ProtocolError } from '@meup/protocol'
import { exitCodes } from '../failure/exit-codes.js'
import { createHttpClient } from '../lib/connection.js'
import { formatError, UsageError } from '../lib/exit.js'
import { printNotice } from '../lib/output.js'
import { unknownNameError } from '../lib/unknown-name.js'

/** The transcripts to search. */
export interface TranscriptSelection {
  /** Default: `.meup/transcripts`, here or above. */
  readonly folder?: string
  /** Default: the transcripts of all agents. */
  readonly agent?: string
}

type Visit = (file: TranscriptFile, agent: string) => void

/** Visits all selected transcripts; an unreadable file does not prevent reading the others. */
export async function eachFile(selection: TranscriptSelection, visit: Visit): Promise<void> {
  for (const path of findFiles(selection)) {
    const agent = basename(path, '.db')
    let file: TranscriptFile | undefined
    try {
      file = await TranscriptFile.read(path)
      visit(file, agent)
    } catch (error) {
      process.exitCode = exitCodes.error
      printNotice(`${agent}: ${formatError(error)}`)
    } finally {
      file?.close()
    }
  }
}

export function findFiles({ folder = findFolder(), agent }: TranscriptSelection): string[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.db')) : []
  if (names.length === 0) throw new UsageError('no_transcripts', { folder })
  const chosen = agent === undefined ? names.sort() : names.filter((name) => name === `${agent}.db`)
  if (chosen.length > 0) return chosen.map((name) => join(folder, name))
  const agents = names.map((name) => basename(name, '.db'))
  throw unknownNameError('transcript of', String(agent), agents)
}

function findFolder(): string {
  for (let at = process.cwd(); ; at = dirname(at)) {
    const folder = join(at, '.meup/transcripts')
    if (existsSync(folder)) return folder
    if (at === dirname(at)) return resolve('.meup/transcripts')
  }
}

type ActOnCommit = (file: TranscriptFile, entry: KeptEntry, agent: string) => void | Promise<void>

/** Finds a commit in all transcripts, by its hash or by an envelope that it caused. */
export async function withCommit(
  selection: TranscriptSelection,
  name: string,
  act: ActOnCommit,
): Promise<void> {
  if (await tryCommit(selection, name, act)) return
  const id = await findEnvelopeId(name)
  if (id !== undefined && (await tryCommit(selection, id, act))) return
  throw new UsageError('not_in_transcripts', { name })
}

/** Resolves `#seq` or the beginning of an id to an envelope's id, if the space of this folder is running. */
async function findEnvelopeId(ref: string): Promise<string | undefined> {
  try {
    return (await createHttpClient({}).readEnvelope(ref)).id
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'invalid_request') throw error
    // Not an error: transcripts can be read without a gateway.
    return undefined
  }
}

async function tryCommit(selection: TranscriptSelection, name: string, act: ActOnCommit): Promise<boolean> {
  for (const path of findFiles(selection)) {
    const file = await TranscriptFile.read(path)
    try {
      const found = file.find(name)
      if (found === 'several') throw new UsageError('ambiguous_hash', { start: name })
      if (found === undefined) continue
      await act(file, found, basename(path, '.db'))
      return true
    } finally {
      file.close()
    }
  }
  return false
}

export const metadataOf = ({ commit }: LogEntry): Readonly<Record<string, unknown>> => commit.metadata ?? {}

/** All commits of the turn that a commit belongs to. */
export function getTurn(file: TranscriptFile, entry: KeptEntry): readonly KeptEntry[] {
  const { turn, context } = metadataOf(entry)
  if (typeof turn !== 'string') return [entry]
  // Compares the context too: a question that was answered again after a restart has several contexts.
  return file.entries({ turn }).filter((each) => metadataOf(each).context === context)
}
