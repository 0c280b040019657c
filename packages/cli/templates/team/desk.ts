import { connect } from '@meup/agent-sdk'
import { model } from './model.js'

await using space = await connect()
await space.agent({
  ...model([() => [{ call: 'hand_over', input: { agent: 'researcher', note: 'A report is wanted.' } }]]),
  instructions:
    'You are the front desk. Hand each question over to whom it concerns; answer yourself only what concerns nobody.',
})
