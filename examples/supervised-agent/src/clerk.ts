import { ProposalError, type Reasoning, ToolError, type ToolResult, type Turn } from '@meup/agent-sdk'

/** Archives the files that the message names; lists the inbox if it names none. */
export async function work(turn: Turn): Promise<void> {
  const files = turn.text.match(/[\w-]+\.txt/g) ?? []
  await using run = await turn.reason(files.length > 0 ? 'Archiving' : 'Looking into the inbox')
  const report: string[] = []
  if (files.length === 0) report.push(await list(run, `${turn.from} asks what there is`))
  for (const file of files) report.push(await archive(run, file, `${turn.from} wants ${file} archived`))
  await run.conclude('That is all I can do')
  await turn.reply(report.join(' '))
}

async function list(run: Reasoning, why: string): Promise<string> {
  try {
    const found = await run.call('files/list_directory', { path: 'inbox' }, { why })
    const names = found.text.replaceAll('[FILE] ', '').replaceAll('\n', ', ') || 'nothing'
    return `In the inbox: ${names}${leaveFor(found)}.`
  } catch (error) {
    return `I cannot look into the inbox: ${getMessage(error)}.`
  }
}

async function archive(run: Reasoning, file: string, why: string): Promise<string> {
  const move = { source: `inbox/${file}`, destination: `archive/${file}` }
  try {
    return `${file} is archived${leaveFor(await run.call('files/move_file', move, { why }))}.`
  } catch (error) {
    await run.thought(`${file} must stay: ${getMessage(error)}`)
    return `${file} stays in the inbox: ${getMessage(error)}.`
  }
}

/**
 * Names the approver of a call, if it had one. `run.call` calls the tool or, if the agent may only propose, proposes the call
 * and waits; the result of an approved proposal contains the approver.
 */
const leaveFor = ({ approvedBy }: ToolResult): string =>
  approvedBy === undefined ? '' : ` (with the leave of ${approvedBy})`

/** Returns the message of a rejected proposal or a failed tool. Other errors are rethrown and end the run. */
function getMessage(error: unknown): string {
  if (error instanceof ProposalError || error instanceof ToolError) return error.message
  throw error
}
