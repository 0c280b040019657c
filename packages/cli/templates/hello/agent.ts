import { connect } from '@meup/agent-sdk'
import { Type } from '@sinclair/typebox'

await using space = await connect() // MEUP_URL, MEUP_SPACE, MEUP_TOKEN, or the .meup folder of a gateway nearby

const lines = (text: string) => text.split('\n').filter((line) => line.startsWith('FAIL'))
space.tool('failures', { input: Type.Object({ text: Type.String() }) }, ({ text }) => lines(text).join('\n'))

await space.answer(async (turn) => {
  const failed = await turn.reason(`Thinking about: ${turn.text}`, async (r) => {
    await r.thought('The change is small; the test report decides')
    const { text } = await r.call(
      'files/read_text_file',
      { path: 'report.txt' },
      { why: 'what fails decides' },
    )
    const failed = lines(text)
    await r.conclude(failed.length === 0 ? 'Nothing fails' : `${failed.length} tests fail`)
    return failed
  })
  await turn.reply(failed.length === 0 ? 'Go ahead.' : `I recommend against deploying: ${failed.join(', ')}`)
})
