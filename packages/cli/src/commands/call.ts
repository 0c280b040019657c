import type { Command } from 'commander'
import { type ConnectionFlags, enter, withConnection } from '../connection.js'
import { UsageError } from '../exit.js'
import { print } from '../output.js'
import { printable } from '../render/printable.js'
import { parseObject } from './send.js'

interface CallFlags extends ConnectionFlags {
  readonly why?: string
  readonly timeout: string
}

/** `meup call files/read_text_file '{"path":"a"}'`: calls a tool and prints what it gives back. */
export function addCall(program: Command): void {
  withConnection(program.command('call'))
    .description('call a tool of a participant')
    .argument('<tool>', 'participant/tool')
    .argument('[arguments]', 'JSON object', '{}')
    .option('--why <rationale>', 'why, for everyone to read')
    .option('--timeout <seconds>', 'how long to wait', '60')
    .action(async (tool: string, json: string, flags: CallFlags) => {
      const args = parseObject(json, 'the arguments')
      const timeoutMs = Number(flags.timeout) * 1000
      if (!(timeoutMs > 0)) throw new UsageError(`--timeout takes seconds, not ${flags.timeout}`)
      if (!/^[^/]+\/.+/.test(tool)) throw new UsageError(`name the tool as participant/tool, not ${tool}`)
      const space = await enter(flags)
      try {
        const { content, data, text } = await space.call(tool, args, {
          timeoutMs,
          ...(flags.why && { why: flags.why }),
        })
        if (flags.json)
          print(JSON.stringify({ content, ...(data !== undefined && { structuredContent: data }) }))
        else print(printable(text))
      } finally {
        space.close()
      }
    })
}
