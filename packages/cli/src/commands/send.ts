import type { Command } from 'commander'
import { type ConnectionFlags, enterSpace, mustKnow, withConnection } from '../lib/connection.js'
import { UsageError } from '../lib/exit.js'
import { parseObject } from '../lib/options.js'
import { print, printJson } from '../lib/output.js'

interface SendFlags extends ConnectionFlags {
  readonly to?: string[]
  readonly kind: string
  readonly payload?: string
  readonly context?: string
  readonly reply?: string
}

/** `meup send`: sends one envelope and prints it as accepted, or its seq. */
export function addSend(program: Command): void {
  withConnection(program.command('send'))
    .description('send one message or any other envelope')
    .argument('[message]', 'what to say')
    .option('--to <participant...>', 'to these alone')
    .option('--kind <kind>', 'kind of envelope', 'chat')
    .option('--payload <json>', 'payload instead of a message')
    .option('--context <path>', 'context it belongs to')
    .option('--reply <id>', 'id of the envelope it answers')
    .action(async (message: string | undefined, flags: SendFlags) => {
      const payload = buildPayload(message, flags.payload)
      const space = await enterSpace(flags)
      try {
        const { to = [], kind, context, reply } = flags
        mustKnow(space, to)
        const accepted = await space.send({
          kind,
          payload,
          ...(to.length > 0 && { to }),
          ...(context && { context }),
          ...(reply && { correlationId: reply }),
        })
        if (flags.json) printJson(accepted)
        else print(`${accepted.seq ?? ''} ${accepted.id}`)
      } finally {
        space.close()
      }
    })
}

function buildPayload(message: string | undefined, json: string | undefined): object {
  if (json === undefined) return message === undefined ? {} : { message }
  if (message !== undefined) throw new UsageError('give a message or --payload, not both')
  return parseObject(json, '--payload')
}
