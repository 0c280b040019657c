import { randomUUID } from 'node:crypto'
import {
  type Answer,
  type ChatOptions,
  ConnectionError,
  type SpaceClient,
  type WaitOptions,
} from '@meup/agent-sdk'
import {
  brief,
  keepOffMargin,
  onOneLine,
  printable,
  remainingAnswer,
  type TurnEvent,
  TurnStream,
} from '@meup/folds'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import type { Command } from 'commander'
import { exitCodes } from '../failure/exit-codes.js'
import { CodedError, Failure } from '../failure/failure.js'
import { readAddressees } from '../lib/addressees.js'
import { describeFailures, listAway, listToolServers, mayAnswer } from '../lib/away.js'
import {
  type ConnectionFlags,
  enterSpace,
  mustKnow,
  resolveTarget,
  withConnection,
} from '../lib/connection.js'
import { type ProgramReports, readPrograms } from '../lib/control-client.js'
import { formatError, UsageError } from '../lib/exit.js'
import { runInterruptible } from '../lib/interruption.js'
import { collectNames } from '../lib/options.js'
import { furtherLine, printJson, printNotice, printText } from '../lib/output.js'
import { hasPipedInput, readStdin, stdinWord } from '../lib/stdin.js'
import { parseTimeout } from '../lib/times.js'
import { DelayNotices } from './ask-notices.js'

interface AskFlags extends ConnectionFlags {
  readonly to?: readonly string[]
  readonly private?: boolean
  readonly timeout: string
}

/** `meup ask`: asks a question and prints the answer; a terminal shows it as it is written. */
export function addAsk(program: Command): void {
  withConnection(program.command('ask'), 'print the envelope of the answer')
    .description('ask a question, and print the answer: the first one, if several are asked')
    .argument(
      '<question...>',
      'what to ask, in quotes, - = stdin; names before it: who is asked (default: the front desk, or everyone)',
    )
    .usage('[name...] <question> [options]')
    .option('--to <names>', 'who is asked: a name, or several with commas', collectNames)
    .option('--private', 'only the asked participants read the question and its answer')
    .option('--timeout <duration>', 'how long to wait', '5m')
    .addHelpText(
      'after',
      '\nWhat is piped in is added to the question. Exits with 9 when the agent could not answer.',
    )
    .action(async (words: string[], { private: isPrivate, timeout, to = [], ...flags }: AskFlags) => {
      const { names, question } = readAddressees(words, to)
      if (isPrivate && names.length === 0)
        throw new UsageError('option_needed', { option: '--private', needed: 'a name before the question' })
      const timeoutMs = parseTimeout(timeout, '--timeout')
      if (question.trim() === '') throw missingQuestion()
      const text = await withInput(question)
      const space = await enterSpace(flags)
      try {
        const name = question.trim().replace(/^@/, '')
        if (names.length === 0 && space.participants.some(({ id }) => id === name))
          throw missingQuestion(name)
        const asked = names.length === 0 ? {} : isPrivate ? { to: names } : { mention: names }
        const target = resolveTarget(flags)
        const readReports = () => readPrograms({ url: target.url, space: target.space })
        await askSpace(space, { text, names, asked, timeoutMs, readReports, isJson: flags.json === true })
      } finally {
        space.close()
      }
    })
}

const missingQuestion = (name = '[name...]'): UsageError =>
  new UsageError('missing_argument', { form: `meup ask ${name} <question>` })

/** Appends piped input to the question; `-` reads the question itself from stdin. */
async function withInput(question: string): Promise<string> {
  const isAlone = question === stdinWord
  if (!isAlone && !hasPipedInput()) return question
  const input = await readStdin()
  if (isAlone && input.trim() === '') throw new UsageError('empty_stdin', {})
  return isAlone ? input : input === '' ? question : `${question}\n\n${input}`
}

interface Request {
  readonly text: string
  /** The addressees; if empty, the agent that `frontDesk` of the space names, or everyone. */
  readonly names: readonly string[]
  readonly asked: Pick<ChatOptions, 'to' | 'mention'>
  readonly timeoutMs: number
  /** Reads what is known about the programs of the space. */
  readonly readReports: () => Promise<ProgramReports>
  readonly isJson: boolean
}

/** Sends the question and prints the answer. Throws `CodedError` if the addressee declines. */
async function askSpace(
  space: SpaceClient,
  { text, names, asked, timeoutMs, readReports, isJson }: Request,
): Promise<void> {
  const id = randomUUID()
  const turns = new TurnStream({ id, from: space.id })
  const writer = new AnswerWriter()
  const isLive = process.stdout.isTTY && !isJson
  const progress =
    process.stderr.isTTY && process.env.TERM !== 'dumb'
      ? new (await import('../view/progress-line.js')).ProgressLine(process.stderr)
      : undefined
  const notify = (line: string): void => {
    progress?.clear()
    printNotice(line)
  }
  let reply: AnyEnvelope | undefined
  let isAsked = false
  const { frontDesk } = space.welcome.space
  const awaited = names.length === 0 && frontDesk !== undefined ? [frontDesk] : names
  const delays = new DelayNotices(space, awaited, notify)
  const onEnvelope = (envelope: AnyEnvelope): void => {
    const { kind } = envelope
    const isPause = kind === Kind.participantPause || kind === Kind.participantResume
    if (isAsked && isPause) delays.checkPauses()
    for (const event of reply === undefined ? turns.apply(envelope) : []) {
      progress?.onEvent(event)
      if (progress === undefined) delays.onEvent(event)
      if (event.type === 'answer') reply ??= envelope
      if (event.type === 'handedOver') notify(event.text)
      if (!isLive || event.type !== 'delta') continue
      progress?.close()
      writer.write(event)
    }
  }
  const ask = async (signal: AbortSignal): Promise<Answer> => {
    signal.addEventListener('abort', () => space.off('envelope', onEnvelope))
    await whenHere(space, awaited, { timeoutMs, signal, notify, readReports })
    isAsked = true
    delays.checkPauses()
    try {
      return await space.ask(text, { id, timeoutMs, signal, ...asked })
    } catch (error) {
      if (!(error instanceof ConnectionError) || error.code !== 'program_ended') throw error
      const { participant = 'the agent' } = error.details
      throw new Failure('program_ended', { participant: onOneLine(participant) }, { cause: error })
    }
  }
  const takeBack = async (reason: string): Promise<void> => {
    progress?.close()
    if (!isAsked) return
    const cancel = { kind: Kind.chatCancel, correlationId: id, payload: { reason } }
    await space.send({ ...cancel, ...(asked.to && { to: names }) })
  }
  space.on('envelope', onEnvelope)
  try {
    const answer = await runInterruptible(ask, takeBack)
    progress?.close()
    if (isJson) printJson(reply)
    if (answer.noAnswer !== undefined)
      throw new CodedError(
        'no_answer',
        {},
        `${answer.from}: ${brief(answer.text, maxReasonChars)}`,
        exitCodes.noAnswer,
      )
    if (isJson) return
    if (isLive) writer.end(answer.text)
    else printText(answer.text)
  } finally {
    progress?.close()
    writer.close()
  }
}

/** Truncates the reason for a missing answer. */
const maxReasonChars = 2000

interface Awaiting extends WaitOptions, Pick<Request, 'readReports'> {
  readonly notify: (line: string) => void
}

/**
 * Waits until all addressees are connected, or if none is named, anyone: an agent does not answer questions sent while it was
 * away.
 */
async function whenHere(space: SpaceClient, ids: readonly string[], awaiting: Awaiting): Promise<void> {
  mustAnswer(space, ids)
  const away = listAway(space, ids)
  if (away.length === 0) return
  const { notify } = awaiting
  const isAnyone = ids.length === 0
  notify(
    isAnyone
      ? `no one is here to answer; waiting for ${away.join(' or ')} to join`
      : `waiting for ${away.join(', ')} to join`,
  )
  const stop = reportFailures(space, away, awaiting)
  try {
    if (isAnyone) await Promise.any(away.map((id) => space.whenPresent([id], awaiting)))
    else await space.whenPresent(away, awaiting)
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error
  } finally {
    stop()
  }
}

/** Notifies why awaited participants do not join: once for each whose program has failed, now or later. */
function reportFailures(
  space: SpaceClient,
  ids: readonly string[],
  { notify, readReports }: Awaiting,
): () => void {
  let isOver = false
  const reported = new Set<string>()
  const report = async (): Promise<void> => {
    for (const [id, text] of describeFailures(space, ids, await readReports())) {
      if (!reported.has(id) && !isOver) notify(text)
      reported.add(id)
    }
  }
  const look = (): void => {
    report().catch((error: unknown) => notify(formatError(error)))
  }
  const onEnvelope = ({ kind }: AnyEnvelope): void => {
    if (kind === Kind.systemPresence) look()
  }
  space.on('envelope', onEnvelope)
  look()
  return () => {
    isOver = true
    space.off('envelope', onEnvelope)
  }
}

/** Throws if an addressee is unknown or cannot answer, or if no participant can. */
export function mustAnswer(space: Pick<SpaceClient, 'id' | 'participants'>, ids: readonly string[]): void {
  const [server] = listToolServers(space, ids)
  if (server !== undefined) throw new UsageError('not_answering', { name: onOneLine(server) })
  const participants = space.participants.filter((each) => mayAnswer(space, each))
  if (participants.length === 0) throw new UsageError('no_agent', {})
  const others = ids.filter((id) => id !== space.id)
  mustKnow({ participants }, others)
}

/**
 * Writes an answer as it streams. Output is append-only: text that turns out not to belong to the answer stays, with a note.
 */
class AnswerWriter {
  #agent: string | undefined
  /** The part of the answer written so far. */
  #written = ''

  write(event: Extract<TurnEvent, { readonly type: 'delta' | 'answer' }>): void {
    if (event.agent !== (this.#agent ?? event.agent)) return
    this.#agent = event.agent
    this.#append(event.text, event.isNew)
  }

  end(text: string): void {
    const answer = printable(text).trim()
    const rest = remainingAnswer(answer, this.#written)
    this.#append(rest ?? answer, rest === undefined)
    process.stdout.write('\n')
    this.#written = ''
  }

  /** Ends the line of an interrupted answer. */
  close(): void {
    if (this.#written !== '') process.stdout.write('\n')
    this.#written = ''
  }

  #append(text: string, isNew: boolean): void {
    if (isNew && this.#written !== '') process.stdout.write('\n(that was not the answer)\n\n')
    if (isNew) this.#written = ''
    // Leading white space is not part of the answer.
    const said = this.#written === '' ? printable(text).trimStart() : printable(text)
    process.stdout.write(keepOffMargin(said, furtherLine))
    this.#written += said
  }
}
