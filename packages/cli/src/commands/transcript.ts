import { readFileSync } from 'node:fs'
import { omitUndefined } from '@meup/protocol'
import { type Command, Option } from 'commander'
import { parseCount } from '../lib/options.js'
import type { Flags } from '../transcript/transcript.js'

const load = () => import('../transcript/transcript.js')

/**
 * `meup transcript …`: shows the requests that agents sent to their models, from files in the agents' folders. Its
 * implementation is imported when it runs.
 */
export function addTranscript(program: Command): void {
  const group = program
    .command('transcript')
    .description('see what a model was sent, thought and answered, as its agent keeps it')
  withFile(group.command('log'), 'print commits as JSON, one a line')
    .description('show prompts, reasoning, answers, calls and results, turn by turn')
    .option('--turn <id>', 'only this turn: the id of the message that was answered')
    .addOption(new Option('--type <type>', 'only such commits').choices(types))
    .option('--last <count>', 'only the last ones, up to this number', '100')
    .action(async ({ last, turn, type, ...flags }: LogFlags) =>
      (await load()).showLog(omitUndefined({ turn, type, last: parseCount(last, '--last') }), flags),
    )
  withFile(group.command('show'), 'print commits as JSON, one a line')
    .description('show a whole exchange: what went in, what was thought, called and answered')
    .argument(
      '<name>',
      "the hash of a commit, or an envelope that came of it: its id, or '#48' and the beginning of an id where its space runs",
    )
    .action(async (name: string, flags: Flags) => (await load()).showExchange(name, flags))
  withFile(group.command('diff'), 'print both sides as JSON, one a line')
    .description(
      'compare two turns, by the ids of their envelopes, or two requests, by the hashes of their commits',
    )
    .argument('<before>', 'an envelope, or the hash of a commit')
    .argument('<after>', 'what to compare it with')
    .action(async (before: string, after: string, flags: Flags) =>
      (await load()).showDiff(before, after, flags),
    )
  withFile(group.command('compile'), 'print messages as JSON, one a line')
    .description('show what the model would be sent after a turn')
    .argument('<turn>', 'an envelope of the turn, or the hash of a commit')
    .option('--reasoning', 'with what was thought')
    .action(async (name: string, { reasoning = false, ...flags }: Flags & { reasoning?: boolean }) =>
      (await load()).showPrompt(name, reasoning, flags),
    )
  withFile(group.command('verify'), 'print one JSON object for each file')
    .description('check that no commit was changed or removed; exits with 8 when one was')
    .option('--head <hash>', 'a commit that must be there, such as metadata.transcript of a conclusion')
    .action(async ({ head, ...flags }: Flags & { head?: string }) => (await load()).verifyFiles(head, flags))
  withFile(group.command('replay'), 'print what is answered now as JSON, one a line')
    .description(
      'send the prompts of a turn again, and compare the answers; no tool runs, nothing enters a space',
    )
    .argument('<turn>', 'an envelope of the turn, or the hash of a commit; its prompts must have been kept')
    .option('--model <name>', 'another model: vendor/name, or its name at --base-url')
    .option('--base-url <url>', 'a server as OpenAI’s; MODEL_API_KEY is its key, and goes to no other')
    .option('--instructions <file>', 'other instructions than those of then')
    .action(async (name: string, { model, baseUrl: baseURL, instructions: file, ...flags }: ReplayFlags) => {
      const { MODEL_API_KEY: apiKey } = process.env
      const instructions = file === undefined ? undefined : readFileSync(file, 'utf8')
      await (await load()).replayTranscript(
        name,
        omitUndefined({ model, baseURL, apiKey, instructions }),
        flags,
      )
    })
}

const types = ['prompt', 'reasoning', 'assistant', 'tool', 'summary', 'error'] as const

type LogFlags = Flags & { turn?: string; type?: (typeof types)[number]; last: string }
type ReplayFlags = Flags & { model?: string; baseUrl?: string; instructions?: string }

const withFile = (command: Command, json: string): Command =>
  command
    .option('--agent <participant>', 'only the transcript of this agent')
    .option('--folder <folder>', 'where transcripts are (default: .meup/transcripts, here or above)')
    .option('--json', json)
