import { basename } from 'node:path'
import { compileTurn, type LogEntry, renderDiff, renderFull, renderLog } from '@meup/agent-sdk/transcript'
import {
  type EntryFilter,
  type FileVerdict,
  type KeptEntry,
  type ReplayOptions,
  replayTurn,
  TranscriptFile,
} from '@meup/agent-sdk/transcript/file'
import { formatDuration, inlineJson, onOneLine } from '@meup/folds'
import { exitCodes } from '../failure/exit-codes.js'
import { askConfirmation, canAsk } from '../lib/confirm.js'
import { formatError, UsageError } from '../lib/exit.js'
import { print, printJson, printNotice } from '../lib/output.js'
import {
  eachFile,
  findFiles,
  getTurn,
  metadataOf,
  type TranscriptSelection,
  withCommit,
} from './find-commits.js'

/** Flags that select transcripts, and `--json`. */
export interface Flags extends TranscriptSelection {
  readonly json?: boolean
}

/**
 * `meup transcript log`: prints the commits of transcripts (recorded prompts, thoughts, answers and tool results), grouped by
 * turn.
 */
export const showLog = (filter: EntryFilter, flags: Flags): Promise<void> =>
  eachFile(flags, (file, agent) => printLog(agent, file.entries(filter), flags))

/** `meup transcript show`: prints the whole turn of a commit. */
export const showExchange = (name: string, flags: Flags): Promise<void> =>
  withCommit(flags, name, (file, entry, agent) => printExchange(agent, getTurn(file, entry), flags))

/** `meup transcript diff`: prints the differences between two turns or two requests. */
export async function showDiff(before: string, after: string, flags: Flags): Promise<void> {
  const sides = [await readSide(flags, before), await readSide(flags, after)] as const
  if (flags.json) for (const side of sides) printJson(side)
  else printDiff(...sides)
}

/** `meup transcript compile`: prints the messages that the model would be sent next. */
export const showPrompt = (name: string, includeReasoning: boolean, flags: Flags): Promise<void> =>
  withCommit(flags, name, (file, entry) => {
    for (const message of compileTurn(getTurn(file, entry), { includeReasoning })) {
      if (flags.json) printJson(message)
      else print(formatMessage(message))
    }
  })

/** `meup transcript replay`: sends the prompts of a turn to the model again, and compares the responses. */
export const replayTranscript = (name: string, options: ReplayOptions, flags: Flags): Promise<void> =>
  withCommit(flags, name, async (file, entry) => {
    const turn = getTurn(file, entry)
    const { entries, changedMessages } = await replayTurn(turn, { confirmAddress, ...options })
    if (changedMessages > 0) printNotice(changedNotice(changedMessages))
    if (flags.json) for (const each of entries) printJson(each)
    else printDiff(withoutPrompts(turn), withoutPrompts(entries))
  })

/** Asks before prompts are sent to an address from a transcript, which may come from anyone. */
async function confirmAddress(address: string): Promise<boolean> {
  const shown = onOneLine(address)
  if (canAsk()) return askConfirmation(`Send the prompts of this turn to ${shown}, without a key?`)
  throw new UsageError('leaving_prompts', { url: shown })
}

/** The commits to compare: one request and its response for a hash, otherwise the whole turn. */
async function readSide(flags: Flags, name: string): Promise<readonly KeptEntry[]> {
  let side: readonly KeptEntry[] = []
  await withCommit(flags, name, (file, entry) => {
    const turn = getTurn(file, entry)
    const { step } = metadataOf(entry)
    side = entry.commit.hash.startsWith(name) ? turn.filter((each) => metadataOf(each).step === step) : turn
  })
  return side
}

function printLog(agent: string, entries: readonly KeptEntry[], { json }: Flags): void {
  let last: unknown
  for (const entry of entries) {
    const { turn, at } = metadataOf(entry)
    if (json) printJson({ agent, ...entry })
    else {
      if (turn !== last || turn === undefined)
        print(`${agent}  ${onOneLine(String(at))}  ${onOneLine(nameTurn(turn))}`)
      process.stdout.write(renderLog([entry]).replace(/^/gm, '  ').trimEnd())
      print('')
    }
    last = turn
  }
}

/** A commit without a turn has a summary of older messages. */
const nameTurn = (id: unknown): string => (id === undefined ? 'no turn' : `turn ${id}`)

function printExchange(agent: string, turn: readonly KeptEntry[], { json }: Flags): void {
  if (json) {
    for (const entry of turn) printJson({ agent, ...entry })
    return
  }
  const [first] = turn
  if (first !== undefined) print(describeExchange(agent, turn, metadataOf(first)))
  for (const entry of turn) {
    process.stdout.write(renderFull([entry]))
    for (const { id, kind } of entry.envelopes) print(`  ⇒ ${onOneLine(kind)} ${onOneLine(id)}`)
  }
}

function describeExchange(
  agent: string,
  turn: readonly KeptEntry[],
  { space, at, turn: id, context }: Readonly<Record<string, unknown>>,
): string {
  const sum = (values: readonly unknown[]): number =>
    values.reduce<number>((total, value) => total + (typeof value === 'number' ? value : 0), 0)
  const ms = sum(turn.map((entry) => metadataOf(entry).ms))
  const [input, output] = [
    sum(turn.map(({ usage }) => usage?.input)),
    sum(turn.map(({ usage }) => usage?.output)),
  ]
  const where = [nameTurn(id), `space ${space}`, ...(context === undefined ? [] : [`context ${context}`])]
  const cost = `${formatDuration(ms)} of the model, ${input} tokens in, ${output} out`
  return onOneLine([`${agent}  ${at}`, ...where, cost].join(' · '))
}

function printDiff(before: readonly LogEntry[], after: readonly LogEntry[]): void {
  const text = renderDiff(before, after)
  if (text === '') print('no difference')
  else process.stdout.write(text)
}

const withoutPrompts = (entries: readonly LogEntry[]): LogEntry[] =>
  entries.filter(({ commit }) => commit.content.content_type !== 'prompt')

/** `meup transcript verify`: checks that no commit was changed or removed. `head`: hash of a commit that must exist. */
export async function verifyFiles(head: string | undefined, flags: Flags): Promise<void> {
  let hasHead = head === undefined
  for (const path of findFiles(flags)) {
    const agent = basename(path, '.db')
    const verdict = await readVerdict(async () => {
      const file = await TranscriptFile.read(path)
      try {
        hasHead ||= head !== undefined && typeof file.find(head) === 'object'
        return file.verify()
      } finally {
        file.close()
      }
    })
    if (!verdict.ok) process.exitCode = exitCodes.auditMismatch
    if (flags.json) printJson({ agent, ...verdict })
    else print(`${agent}: ${formatVerdict(verdict)}`)
  }
  if (hasHead) return
  process.exitCode = exitCodes.auditMismatch
  printNotice(`${head} is not there`)
}

type Verdict = FileVerdict | { readonly ok: false; readonly problem: string }

/** Converts an error to a verdict: a damaged file may be unreadable. */
async function readVerdict(read: () => Promise<FileVerdict>): Promise<Verdict> {
  try {
    return await read()
  } catch (error) {
    return { ok: false, problem: formatError(error) }
  }
}

function formatVerdict(verdict: Verdict): string {
  if (verdict.ok) return `whole, ${verdict.commits} commits from ${verdict.first}, head ${verdict.head}`
  const at = 'hash' in verdict ? `commit ${verdict.number} (${verdict.hash.slice(0, 12)}): ` : ''
  return onOneLine(`${at}${verdict.problem}`)
}

function formatMessage({ role, text, toolCalls = [] }: ReturnType<typeof compileTurn>[number]): string {
  const calls = toolCalls.map(({ name, arguments: args }) => `→ ${name} ${inlineJson(args, 200)}`)
  return `${role}: ${onOneLine([text, ...calls].filter((part) => part !== '').join(' '))}`
}

const changedNotice = (count: number): string =>
  `${count} messages are not quite what was sent: secrets, and the middle of long texts, are not kept`
