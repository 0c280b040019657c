import type { HttpClient } from '@meup/agent-sdk/http'
import { Kind, ProtocolError } from '@meup/protocol'
import type { Command } from 'commander'
import { readAddressees } from '../lib/addressees.js'
import {
  type ConnectionFlags,
  createHttpClient,
  enterSpace,
  mustKnow,
  withConnection,
} from '../lib/connection.js'
import { UsageError } from '../lib/exit.js'
import { collectNames, parseObject } from '../lib/options.js'
import { print, printJson } from '../lib/output.js'
import { readStdin, stdinWord } from '../lib/stdin.js'

interface SendFlags extends ConnectionFlags {
  readonly to?: readonly string[]
  readonly kind: string
  readonly payload?: string
  readonly context?: string
  readonly reply?: string
}

interface MessagePayload {
  readonly message?: string
  readonly mentions?: readonly string[]
}

/** `meup send`: sends one envelope and prints it as accepted, or its seq. */
export function addSend(program: Command): void {
  withConnection(program.command('send'))
    .description('send one message or any other envelope')
    .argument('[message]', 'what to say, - = stdin')
    .option('--to <names>', 'to these alone: a name, or several with commas', collectNames)
    .option('--kind <kind>', 'kind of envelope', 'chat')
    .option('--payload <json>', 'payload instead of a message')
    .option('--context <path>', 'context it belongs to')
    .option('--reply <id>', 'the envelope it answers: its id, how that begins, or #seq')
    .action(async (message: string | undefined, flags: SendFlags) => {
      const said = message === stdinWord ? await readStdin() : message
      if (said !== undefined && flags.payload !== undefined)
        throw new UsageError('option_conflict', { option: '--payload', other: 'a message' })
      const isEmpty = said?.trim() === '' || (said === undefined && flags.payload === undefined)
      if (isEmpty && flags.kind === Kind.chat)
        throw new UsageError('missing_argument', { form: 'meup send <message>, with - for stdin' })
      const isTyped = message !== stdinWord
      const written: MessagePayload =
        said === undefined ? {} : isTyped ? buildMessage(said, flags) : { message: said }
      const payload = flags.payload === undefined ? written : parseObject(flags.payload, '--payload')
      const answered = flags.reply && (await findId(createHttpClient(flags), flags.reply))
      const space = await enterSpace(flags)
      try {
        const { to = [], kind, context } = flags
        mustKnow(space, [...to, ...(written.mentions ?? [])])
        const accepted = await space.send({
          kind,
          payload,
          ...(to.length > 0 && { to: [...to] }),
          ...(context && { context }),
          ...(answered && { correlationId: answered }),
        })
        if (flags.json) printJson(accepted)
        else print(`${accepted.seq ?? ''} ${accepted.id}`)
      } finally {
        space.close()
      }
    })
}

/** Resolves a seq to the id of its envelope; an unknown id is returned unchanged. */
async function findId(http: HttpClient, ref: string): Promise<string> {
  try {
    return (await http.readEnvelope(ref)).id
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'not_found') return ref
    throw error
  }
}

/** Builds the payload of the message. A chat that begins with `@` names, without `--to`, mentions these, as in `meup join`. */
function buildMessage(message: string, { kind, to }: SendFlags): MessagePayload {
  const { names, question } = readAddressees([message])
  return kind !== Kind.chat || to !== undefined || names.length === 0
    ? { message }
    : { message: question, mentions: names }
}
