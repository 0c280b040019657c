import { connect } from '@meup/agent-sdk'

await using space = await connect()

await space.answer(async (turn) => {
  const failed = await turn.reason('Writing down what fails', async (r) => {
    const report = await r.call('files/read_text_file', { path: 'report.txt' }, { why: 'it has the results' })
    const failed = report.text.split('\n').filter((line) => line.startsWith('FAIL'))
    await r.call(
      'notes/write_file',
      { path: 'failed.md', content: failed.map((line) => `- ${line}\n`).join('') },
      { why: `${turn.from} wants a note of it` },
    )
    await r.conclude(`${failed.length} tests fail`)
    return failed
  })
  await turn.reply(`Noted in notes/failed.md: ${failed.join(', ') || 'nothing fails'}.`)
})
