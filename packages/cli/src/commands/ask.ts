import { randomUUID } from 'node:crypto'
import type { SpaceClient } from '@meup/agent-sdk'
import { keepOffMargin, LiveAnswers, printable } from '@meup/folds'
import { type AnyEnvelope, correlations, Kind } from '@meup/protocol'
import type { Command } from 'commander'
import { type ConnectionFlags, enterSpace, mustKnow, withConnection } from '../lib/connection.js'
import { UsageError } from '../lib/exit.js'
import { parseTimeSpan } from '../lib/options.js'
import { furtherLine, printJson, printNotice, printText } from '../lib/output.js'

interface AskFlags extends ConnectionFlags {
  readonly private?: boolean
  readonly timeout: string
}

/** `meup ask`: asks a question and prints the answer; in a terminal, as it is written. */
export function addAsk(program: Command): void {
  withConnection(program.command('ask'), 'print the envelope of the answer')
    .description('ask a question, and print the answer: the first one, where several are asked')
    .argument('<question...>', 'what to ask, in quotes; names before it: who is asked (default: everyone)')
    .usage('[name...] <question> [options]')
    .option('--private', 'only those who are asked read the question and its answer')
    .option('--timeout <duration>', 'how long to wait', '5m')
    .action(async (words: string[], { private: isPrivate, timeout, ...flags }: AskFlags) => {
      const [question = '', ...names] = words.toReversed()
      if (isPrivate && names.length === 0)
        throw new UsageError('--private needs a name: meup ask <name> <question> --private')
      const timeoutMs = parseTimeSpan(timeout, '--timeout')
      const space = await enterSpace(flags)
      const id = randomUUID()
      const writer = new AnswerWriter(id)
      const isLive = process.stdout.isTTY && !flags.json
      let answer: AnyEnvelope | undefined
      space.on('envelope', (envelope) => {
        if (envelope.kind === Kind.chat && correlations(envelope).includes(id)) answer ??= envelope
        if (isLive && answer === undefined) writer.apply(envelope)
      })
      try {
        await whenHere(space, names, timeoutMs)
        const asked = names.length === 0 ? {} : isPrivate ? { to: names } : { mention: names }
        const { text } = await space.ask(question, { id, timeoutMs, ...asked })
        if (flags.json) printJson(answer)
        else if (isLive) writer.end(text)
        else printText(text)
      } finally {
        space.close()
      }
    })
}

/** Agents answer what is asked while they are here. */
async function whenHere(space: SpaceClient, ids: readonly string[], timeoutMs: number): Promise<void> {
  mustKnow(space, ids)
  const away = space.participants.flatMap(({ id, status }) =>
    ids.includes(id) && status === 'away' ? [id] : [],
  )
  if (away.length === 0) return
  printNotice(`waiting for ${away.join(', ')} to join`)
  await space.whenPresent(away, { timeoutMs })
}

/** Writes an answer as it comes. It appends alone: what turns out to be no part of the answer stays, and is marked. */
class AnswerWriter {
  readonly #id: string
  readonly #answers = new LiveAnswers()
  #from: string | undefined
  #beginning = 0
  /** What was written since the answer began. */
  #written = ''

  constructor(id: string) {
    this.#id = id
  }

  apply(envelope: AnyEnvelope): void {
    if (!this.#answers.apply({ ...envelope })) return
    const live = this.#answers
      .list()
      .find(({ from, trigger }) => trigger === this.#id && from === (this.#from ?? from))
    if (live === undefined) return
    this.#from = live.from
    if (live.beginning !== this.#beginning) this.#restart()
    this.#beginning = live.beginning
    this.#append(printable(live.text).trimStart())
  }

  end(text: string): void {
    const answer = printable(text).trim()
    // White space at its ends is no part of an answer.
    const written = this.#written.trimEnd()
    if (!answer.startsWith(written)) this.#restart()
    else this.#written = written
    this.#append(answer)
    process.stdout.write('\n')
  }

  #append(text: string): void {
    process.stdout.write(keepOffMargin(text.slice(this.#written.length), furtherLine))
    this.#written = text
  }

  #restart(): void {
    if (this.#written !== '') process.stdout.write('\n(that was not the answer)\n\n')
    this.#written = ''
  }
}
