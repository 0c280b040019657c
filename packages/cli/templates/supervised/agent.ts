import { connect, ProposalError, ToolError } from '@meup/agent-sdk'

await using space = await connect()

await space.answer(async (turn) => {
  const papers = turn.text.match(/[\w-]+\.txt/g) ?? []
  if (papers.length === 0) return void (await turn.reply('Name the papers to archive, such as march.txt.'))

  const done = await turn.reason(`Archiving ${papers.join(', ')}`, async (r) => {
    const done: string[] = []
    for (const paper of papers) {
      const move = { source: `inbox/${paper}`, destination: `archive/${paper}` }
      try {
        // The agent lacks the capability for this call, so it is proposed; waits for a decision.
        const { approvedBy } = await r.call('files/move_file', move, {
          why: `${turn.from} wants it archived`,
        })
        done.push(`${paper} is archived, with the leave of ${approvedBy}.`)
      } catch (error) {
        if (!(error instanceof ProposalError || error instanceof ToolError)) throw error
        done.push(`${paper} stays where it is: ${error.message}.`)
      }
    }
    await r.conclude('That is all I can do')
    return done
  })
  await turn.reply(done.join(' '))
})
