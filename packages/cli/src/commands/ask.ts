import { randomUUID } from 'node:crypto'
import type { SpaceClient, WaitOptions } from '@meup/agent-sdk'
import { keepOffMargin, printable, remainingAnswer, type TurnEvent, TurnStream } from '@meup/folds'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import type { Command } from 'commander'
import { type ConnectionFlags, enterSpace, mustKnow, withConnection } from '../lib/connection.js'
import { UsageError } from '../lib/exit.js'
import { runInterruptible } from '../lib/interruption.js'
import { collectNames } from '../lib/options.js'
import { furtherLine, printJson, printNotice, printText } from '../lib/output.js'
import { parseTimeout } from '../lib/times.js'

interface AskFlags extends ConnectionFlags {
  readonly to?: readonly string[]
  readonly private?: boolean
  readonly timeout: string
}

/** `meup ask`: asks a question and prints the answer; in a terminal, as it is written. */
export function addAsk(program: Command): void {
  withConnection(program.command('ask'), 'print the envelope of the answer')
    .description('ask a question, and print the answer: the first one, where several are asked')
    .argument(
      '<question...>',
      'what to ask, in quotes; names before it: who is asked (default: the front desk, or everyone)',
    )
    .usage('[name...] <question> [options]')
    .option('--to <names>', 'who is asked: a name, or several with commas', collectNames)
    .option('--private', 'only those who are asked read the question and its answer')
    .option('--timeout <duration>', 'how long to wait', '5m')
    .action(async (words: string[], { private: isPrivate, timeout, to = [], ...flags }: AskFlags) => {
      const [question = '', ...first] = words.toReversed()
      const names = [...new Set([...first, ...to])]
      if (isPrivate && names.length === 0)
        throw new UsageError('--private needs a name: meup ask <name> <question> --private')
      const timeoutMs = parseTimeout(timeout, '--timeout')
      const space = await enterSpace(flags)
      const id = randomUUID()
      const turns = new TurnStream({ id, from: space.id })
      const writer = new AnswerWriter()
      const isLive = process.stdout.isTTY && !flags.json
      let answer: AnyEnvelope | undefined
      let isAsked = false
      const onEnvelope = (envelope: AnyEnvelope): void => {
        for (const event of answer === undefined ? turns.apply(envelope) : []) {
          if (event.type === 'answer') answer ??= envelope
          if (event.type === 'handedOver') printNotice(event.text)
          if (isLive) writer.write(event)
        }
      }
      const { frontDesk } = space.welcome.space
      const asked = names.length === 0 ? {} : isPrivate ? { to: names } : { mention: names }
      const ask = async (signal: AbortSignal): Promise<string> => {
        signal.addEventListener('abort', () => space.off('envelope', onEnvelope))
        const awaited = names.length === 0 && frontDesk !== undefined ? [frontDesk] : names
        await whenHere(space, awaited, { timeoutMs, signal })
        isAsked = true
        return (await space.ask(question, { id, timeoutMs, signal, ...asked })).text
      }
      const takeBack = async (reason: string): Promise<void> => {
        if (!isAsked) return
        const cancel = { kind: Kind.chatCancel, correlationId: id, payload: { reason } }
        await space.send({ ...cancel, ...(isPrivate && { to: names }) })
      }
      space.on('envelope', onEnvelope)
      try {
        const text = await runInterruptible(ask, takeBack)
        if (flags.json) printJson(answer)
        else if (isLive) writer.end(text)
        else printText(text)
      } finally {
        space.close()
      }
    })
}

/** Agents answer what is asked while they are here. */
async function whenHere(space: SpaceClient, ids: readonly string[], options: WaitOptions): Promise<void> {
  mustKnow(space, ids)
  const away = space.participants.flatMap(({ id, status }) =>
    ids.includes(id) && status === 'away' ? [id] : [],
  )
  if (away.length === 0) return
  printNotice(`waiting for ${away.join(', ')} to join`)
  await space.whenPresent(away, options)
}

/** Writes one answer as it comes. It appends alone: what turns out to be no part of the answer stays, and is marked. */
class AnswerWriter {
  #agent: string | undefined
  /** What was written since the answer began. */
  #written = ''

  write(event: TurnEvent): void {
    if (event.type !== 'delta' || event.agent !== (this.#agent ?? event.agent)) return
    this.#agent = event.agent
    this.#append(event.text, event.isNew)
  }

  end(text: string): void {
    const answer = printable(text).trim()
    const rest = remainingAnswer(answer, this.#written)
    this.#append(rest ?? answer, rest === undefined)
    process.stdout.write('\n')
  }

  #append(text: string, isNew: boolean): void {
    if (isNew && this.#written !== '') process.stdout.write('\n(that was not the answer)\n\n')
    if (isNew) this.#written = ''
    // White space at its ends is no part of an answer.
    const said = this.#written === '' ? printable(text).trimStart() : printable(text)
    process.stdout.write(keepOffMargin(said, furtherLine))
    this.#written += said
  }
}
