import { setImmediate as nextTurn } from 'node:timers/promises'
import { type SpaceClient, ToolError } from '@meup/agent-sdk'
import { isObject } from '@meup/folds'
import { Kind, omitUndefined } from '@meup/protocol'
import type { Command } from 'commander'
import type { JsonOf } from '../json-outputs.js'
import { type ConnectionFlags, enterSpace, mustKnow, withConnection } from '../lib/connection.js'
import { invalidValue } from '../lib/exit.js'
import { promptForms } from '../lib/fill-form.js'
import { runInterruptible } from '../lib/interruption.js'
import { parseObject } from '../lib/options.js'
import { printJson, printNotice, printText } from '../lib/output.js'
import { getResultText } from '../lib/result-text.js'
import { readStdin, stdinWord } from '../lib/stdin.js'
import { parseTimeout } from '../lib/times.js'
import { unknownNameError } from '../lib/unknown-name.js'

interface CallFlags extends ConnectionFlags {
  readonly why?: string
  readonly timeout?: string
  readonly approvalTimeout?: string
}

/** `meup call files/read_text_file '{"path":"a"}'`: calls a tool and prints the result. */
export function addCall(program: Command): void {
  withConnection(program.command('call'), 'print the result as one JSON object')
    .description('call a tool of a participant')
    .argument('<tool>', 'participant/tool')
    .argument('[arguments]', 'JSON object, - = stdin', '{}')
    .option('--why <rationale>', 'why, for everyone to read')
    .option('--timeout <duration>', 'how long to wait for the result, or for progress (default: 60s)')
    .option(
      '--approval-timeout <duration>',
      'how long what you may only propose waits (default: --timeout, or 10m)',
    )
    .action(async (tool: string, json: string, flags: CallFlags) => {
      const args = parseObject(json === stdinWord ? await readStdin() : json, '<arguments>')
      const times = parseTimeouts(flags)
      const [, owner] = /^([^/]+)\/./.exec(tool) ?? []
      if (owner === undefined) throw invalidValue('<tool>', 'tool', tool)
      const space = await enterSpace(flags)
      const onElicitation = promptForms(space, tool.slice(0, tool.indexOf('/')))
      try {
        mustKnow(space, [owner])
        const call = (signal: AbortSignal) =>
          space.call(tool, args, {
            ...times,
            ...(flags.why && { why: flags.why }),
            signal,
            ...(onElicitation && { onElicitation }),
            onProgress: () => {}, // A handler requests progress notifications, which restart --timeout.
            onProposal: ({ id }) => printNotice(`waiting for approval of proposal ${id}`),
          })
        // On an interrupt, the client sends the cancellation within one turn of the event loop, and closing the connection
        // flushes it, so it suffices to wait for the next turn.
        const { content, data } = await runInterruptible(call, () => nextTurn())
        const result = { content, ...omitUndefined({ structuredContent: data }) }
        if (flags.json) printJson<JsonOf<'call'>>(result)
        else printText(getResultText(result) || 'done; the tool gave back nothing')
      } catch (error) {
        throw error instanceof ToolError ? await explainMissing(space, tool, error) : error
      } finally {
        space.close()
      }
    })
}

/** The error of a failed call; if the tool does not exist, an error that suggests others. */
async function explainMissing(space: SpaceClient, tool: string, failure: ToolError): Promise<Error> {
  const owner = tool.slice(0, tool.indexOf('/'))
  const name = tool.slice(owner.length + 1)
  const listing = { kind: Kind.mcpRequest, to: [owner], payload: { method: 'tools/list' } }
  if (!space.can(listing)) return failure
  const { tools } = await space.request(owner, 'tools/list')
  const names = Array.isArray(tools) ? tools.filter(isObject).map((each) => String(each.name)) : []
  if (names.length === 0 || names.includes(name)) return failure
  return unknownNameError(
    'tool',
    tool,
    names.map((each) => `${owner}/${each}`),
  )
}

/** Timeouts in milliseconds; waiting for approval has its own. */
function parseTimeouts({ timeout, approvalTimeout }: CallFlags): { timeoutMs: number; approvalMs: number } {
  const timeoutMs = parseTimeout(timeout ?? '60s', '--timeout')
  const approvalMs = parseTimeout(approvalTimeout ?? timeout ?? '10m', '--approval-timeout')
  return { timeoutMs, approvalMs }
}
