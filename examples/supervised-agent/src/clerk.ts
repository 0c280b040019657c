import { ProposalError, type Reasoning, ToolError, type ToolResult, type Turn } from '@meup/agent-sdk'

/** Lists what is in the inbox, or moves the files that are named into the archive. */
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
    return `I cannot look into the inbox: ${reasonOf(error)}.`
  }
}

async function archive(run: Reasoning, file: string, why: string): Promise<string> {
  const move = { source: `inbox/${file}`, destination: `archive/${file}` }
  try {
    return `${file} is archived${leaveFor(await run.call('files/move_file', move, { why }))}.`
  } catch (error) {
    await run.thought(`${file} must stay: ${reasonOf(error)}`)
    return `${file} stays in the inbox: ${reasonOf(error)}.`
  }
}

/** The code above is the same whether a call is made or proposed; the result says which it was. */
const leaveFor = ({ approvedBy }: ToolResult): string =>
  approvedBy === undefined ? '' : ` (with the leave of ${approvedBy})`

/** Of a proposal that came to nothing, or a tool that failed. Other errors are thrown on, and end the run. */
function reasonOf(error: unknown): string {
  if (error instanceof ProposalError || error instanceof ToolError) return error.message
  throw error
}
