import { connect } from '@meup/agent-sdk'
import { answerWith } from './agent.js'
import { chooseModel } from './choose-model.js'

const instructions =
  'You advise whether to deploy. Look at the files, which are in the folder ".", and base your answer on them alone. ' +
  'Before you call a tool, say in one sentence what you are about to find out.'

// MEUP_URL, MEUP_SPACE and MEUP_TOKEN set the gateway, the space and the participant.
await using space = await connect()
await space.answer(answerWith(chooseModel(process.env), instructions))
