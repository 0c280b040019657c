import { ConnectionError, type Grant, type OpenProposal, type SpaceClient, ToolError } from '@meup/agent-sdk'
import {
  brief,
  capabilitySentence,
  exactText,
  isOpenProposal,
  proposerEndedText,
  reasonText,
} from '@meup/folds'
import { correlations, Kind, omitUndefined, ProtocolError } from '@meup/protocol'
import type { Command } from 'commander'
import { exitCodes } from '../failure/exit-codes.js'
import type { JsonOf } from '../json-outputs.js'
import { type ConnectionFlags, createHttpClient, enterSpace, withConnection } from '../lib/connection.js'
import { UsageError } from '../lib/exit.js'
import { promptForms } from '../lib/fill-form.js'
import { findByPrefix } from '../lib/options.js'
import { confirm, print, printJson, printNotice, printText } from '../lib/output.js'
import { formatProposal, toProposalJson } from '../lib/proposal-text.js'
import { decideProposal, findOpenProposal, readProposals } from '../lib/proposals.js'
import { getResultText } from '../lib/result-text.js'
import { parseTimeout } from '../lib/times.js'
import { unknownNameError } from '../lib/unknown-name.js'

export function addProposals(program: Command): void {
  const group = program
    .command('proposals')
    .description('show and decide what participants ask to be done')
    .addHelpText('after', '\nAn id may be cut to its first letters, as long as no other begins so.')
  withConnection(
    group.command('ls', { isDefault: true }).alias('list'),
    'print proposals as JSON, one a line',
  )
    .description('show what waits for a decision; so does meup proposals alone')
    .option('--all', 'show what was decided as well, and how it ended')
    // As the default command, `ls` gets misspelt names of the other commands.
    .allowExcessArguments()
    .action(async (flags: ConnectionFlags & { all?: boolean }, { args: [word] }: Command) => {
      const names = group.commands.map((each) => each.name())
      if (word !== undefined) throw unknownNameError('command', word, names)
      await listProposals(flags)
    })
  withId(group.command('show'))
    .description('show all that a proposal would carry out, unmasked, whatever its length')
    .action(showProposal)
  withId(group.command('approve'))
    .description('do what was proposed, and print what it gives back; in a terminal, show it and ask first')
    .option('--yes', 'do not show it, and do not ask')
    .option('--why <rationale>', 'why, for everyone to read')
    .option('--always', 'also grant the proposer to do the same alone from now on')
    .option('--timeout <duration>', 'how long to wait for the result', '60s')
    .action(async (id: string, { timeout, ...flags }: ApproveFlags & { timeout: string }) => {
      const timeoutMs = parseTimeout(timeout, '--timeout')
      await approveProposal(id, timeoutMs, flags)
    })
  withId(group.command('reject'))
    .description('refuse what was proposed')
    .argument('[why...]', 'the same as --message')
    .option('--reason <reason>', 'why, in a word', 'disagree')
    .option('--message <text>', 'why, in a sentence')
    .action(rejectProposal)
  withId(group.command('withdraw'))
    .description('take back what you proposed yourself')
    .argument('[why...]', 'the same as --message')
    .option('--reason <reason>', 'why, in a word', 'no longer needed')
    .option('--message <text>', 'why, in a sentence')
    .action(withdrawProposal)
}

/** Adds the connection options, and accepts ids that begin with a dash. */
const withId = (command: Command): Command =>
  withConnection(command, 'print one JSON object')
    .argument('<id>', 'of the proposal, or how it begins')
    .allowUnknownOption()

interface ApproveFlags extends ConnectionFlags {
  readonly why?: string
  readonly always?: boolean
  readonly yes?: boolean
}

interface RefuseFlags extends ConnectionFlags {
  readonly reason: string
  readonly message?: string
}

async function listProposals({ all = false, ...flags }: ConnectionFlags & { all?: boolean }): Promise<void> {
  const proposals = await readProposals(createHttpClient(flags), { answers: all })
  const now = Date.now()
  const shown = all ? proposals : proposals.filter((each) => isOpenProposal(each, now))
  for (const each of shown) {
    if (flags.json) printJson<JsonOf<'proposals ls'>>(toProposalJson(each, now))
    else for (const line of formatProposal(each, now)) print(line)
  }
  if (!flags.json && shown.length === 0) printNotice(all ? 'nothing was proposed' : 'no proposal is open')
}

function showProposal(id: string, flags: ConnectionFlags): Promise<void> {
  return decide(id, flags, async (_, proposal) => {
    if (flags.json) print(exactText(proposal).text)
    else for (const line of describeExactly(proposal)) print(line)
  })
}

/** Maximum characters of a proposal's reason. */
const maxReasonChars = 2000

const describeExactly = (proposal: OpenProposal): string[] => [
  `${proposal.id}  ${proposal.from} asks: ${brief(reasonText(proposal.rationale ?? null), maxReasonChars)}`,
  ...(proposal.programEnded ? [proposerEndedText(proposal.from)] : []),
  ...exactText(proposal)
    .text.split('\n')
    .map((line) => `    ${line}`),
]

/** Shows the whole proposal in a terminal and asks for confirmation. Scripts and `--yes` are not asked. */
async function isWanted(proposal: OpenProposal, flags: ApproveFlags): Promise<boolean> {
  if (flags.yes || !process.stdin.isTTY || !process.stderr.isTTY) {
    if (proposal.programEnded) printNotice(proposerEndedText(proposal.from))
    return true
  }
  for (const line of describeExactly(proposal)) printNotice(line)
  const what = flags.always ? 'Do it, and let its proposer do the like from now on?' : 'Do it?'
  if (await confirm(what)) return true
  printNotice(`${proposal.id} stays open`)
  process.exitCode = exitCodes.error
  return false
}

/** `meup proposals approve`: fulfils the proposal and prints the result. */
function approveProposal(id: string, timeoutMs: number, flags: ApproveFlags): Promise<void> {
  return decide(id, flags, async (space, proposal) => {
    if (!(await isWanted(proposal, flags))) return
    const onElicitation = promptForms(space, proposal.to?.join(', ') ?? 'a tool')
    const options = omitUndefined({ why: flags.why, onElicitation })
    if (!flags.always) {
      printResult(await space.proposals.approve(proposal.id, { ...options, timeoutMs }), flags.json)
      return
    }
    const result = awaitProposalResult(space, proposal.id, timeoutMs)
    const grant = await space.proposals.allowAlways(proposal.id, options)
    printGrant(grant)
    printResult(await result, flags.json, { grant })
  })
}

async function rejectProposal(
  id: string,
  words: readonly string[],
  { reason, message: given, ...flags }: RefuseFlags,
): Promise<void> {
  const message = readMessage(words, given)
  return decide(id, flags, async (space, { id, from }) => {
    const reasons = omitUndefined({ reason, message })
    await space.proposals.reject(id, reasons)
    if (flags.json) printJson<JsonOf<'proposals reject'>>({ id, state: 'rejected', by: space.id, ...reasons })
    else printNotice(`${id} is rejected; ${from} gets the reason`)
  })
}

/** `meup proposals withdraw`: withdraws one of the participant's own proposals. */
async function withdrawProposal(
  id: string,
  words: readonly string[],
  { reason, message: given, ...flags }: RefuseFlags,
): Promise<void> {
  const message = readMessage(words, given)
  return decide(id, flags, async (space, { id }) => {
    const payload = omitUndefined({ reason, message })
    await space.send({ kind: Kind.mcpWithdraw, correlationId: id, payload })
    if (flags.json)
      printJson<JsonOf<'proposals withdraw'>>({ id, state: 'withdrawn', by: space.id, ...payload })
    else printNotice(`${id} is withdrawn`)
  })
}

/** The message, which may be given as words after the id. Options that are unknown arrive as words too. */
function readMessage(words: readonly string[], given: string | undefined): string | undefined {
  if (words.length === 0) return given
  const option = words.find((word) => word.startsWith('-'))
  if (option !== undefined) throw new UsageError('unknown_option', { option })
  if (given !== undefined) throw new UsageError('option_conflict', { option: '--message', other: '<why>' })
  return words.join(' ')
}

const printGrant = ({ id, recipient, capabilities }: Grant): boolean =>
  printNotice(
    `${recipient} may ${capabilities.map(capabilitySentence).join('; ')} (grant ${id}); meup caps revoke ${id} takes it back`,
  )

async function decide(
  start: string,
  flags: ConnectionFlags,
  act: (space: SpaceClient, proposal: OpenProposal) => Promise<void>,
): Promise<void> {
  const space = await enterSpace(flags, { openProposals: true })
  try {
    const proposal = findByPrefix(space.proposals.list(), start, 'proposal')
    const open = proposal ?? (await explainMissing(start, space.id, flags))
    await decideProposal(createHttpClient(flags), open.id, () => act(space, open))
  } finally {
    space.close()
  }
}

/**
 * Throws the reason why the connection does not have this proposal: it is not open, or this participant has already rejected
 * it.
 */
async function explainMissing(start: string, by: string, flags: ConnectionFlags): Promise<never> {
  const { id } = findOpenProposal(await readProposals(createHttpClient(flags)), start, Date.now())
  throw new ProtocolError('forbidden', `${by} has rejected ${id} already; leave it to others`)
}

type Result = Readonly<Record<string, unknown>>

/**
 * Waits for the result of a proposal that this participant is about to fulfil. Rejects with `ToolError` if the call fails, and
 * with `ConnectionError` on timeout or when the connection closes.
 */
function awaitProposalResult(space: SpaceClient, proposal: string, timeoutMs: number): Promise<Result> {
  const { head } = space.welcome.space // Requests up to this seq are replayed.
  const result = new Promise<Result>((resolve, reject) => {
    const requests = new Set<string>()
    const late = (): void => reject(new ConnectionError('timeout', `no response within ${timeoutMs} ms`))
    const timer = setTimeout(late, timeoutMs)
    space.on('closed', (error) => {
      clearTimeout(timer)
      reject(error ?? new ConnectionError('closed', 'the connection was closed'))
    })
    space.on('envelope', (envelope) => {
      if ((envelope.seq ?? 0) <= head) return
      const about = correlations(envelope)
      if (envelope.kind === Kind.mcpRequest && envelope.from === space.id && about.includes(proposal)) {
        requests.add(envelope.id)
      } else if (envelope.kind === Kind.mcpResponse && about.some((id) => requests.has(id))) {
        const { result = {}, error } = envelope.payload
        if (error === undefined) resolve(result)
        else reject(new ToolError(error.message, error.code, error.data))
      }
    })
  })
  result.catch(() => {}) // Avoids an unhandled rejection if the request itself is refused.
  return result
}

/** Prints an MCP result: text of a tool result, otherwise JSON. Throws `ToolError` if the tool failed. */
function printResult(
  result: Readonly<Record<string, unknown>>,
  json: boolean | undefined,
  extra: object = {},
): void {
  const text = getResultText(result)
  if (result.isError === true) throw new ToolError(text)
  if (json || text === '') printJson({ ...result, ...extra })
  else printText(text)
}
