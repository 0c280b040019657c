import { connect } from '@meup/agent-sdk'
import { lastText, model } from './model.js'

await using space = await connect()
await space.agent({
  ...model([
    (request) => [
      { text: lastText(request).includes('Source:') ? 'Approved.' : 'Name the source of the figures.' },
    ],
  ]),
  instructions:
    'You review drafts. Answer "Approved." to one that may go out as it is; otherwise say what to change.',
})
