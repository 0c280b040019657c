import { connect, ProposalError, ToolError, type Turn } from '@meup/agent-sdk'

// MEUP_URL, MEUP_SPACE and MEUP_TOKEN set the gateway, the space and the participant.
await using space = await connect()
await space.answer(serve)

/** Answers a question. "… about <word>" searches for a book; "… about <word> for <name>" also lends it. */
async function serve(turn: Turn): Promise<void> {
  const [, word = '', reader] = /about (\w+)(?: for (\w+))?/.exec(turn.text) ?? []
  await using run = await turn.reason(`Looking for a book about ${word}`)
  const { text: title } = await run.call('shelf/find', { word }, { why: `its title should have "${word}"` })
  await run.thought(title === '' ? 'There is none' : `${title} it is`)
  const answer = title === '' || reader === undefined ? title || 'There is none.' : await lend(title, reader)
  await run.conclude('That is all I can do')
  await turn.reply(answer)

  /** Lends a book. The agent may not call the tool directly, so the call waits for an approval. */
  async function lend(title: string, to: string): Promise<string> {
    try {
      return (await run.call('shelf/lend', { title, to }, { why: `${to} wants to read it` })).text
    } catch (error) {
      if (error instanceof ProposalError || error instanceof ToolError) return error.message
      throw error
    }
  }
}
