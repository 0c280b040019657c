import { connect } from '@meup/agent-sdk'
import { chooseModel } from './choose-model.js'

// Chosen before connecting, because `chooseModel` ends the program if a key is missing.
const chosen = chooseModel(process.env)

// MEUP_URL, MEUP_SPACE and MEUP_TOKEN set the gateway, the space and the participant.
await using space = await connect()
await space.agent({
  ...chosen,
  instructions:
    'You advise whether to deploy. Look at the files, which are in the folder ".", and base your answer on them alone. ' +
    'Before you call a tool, say in one sentence what you are about to find out.',
  tools: ['files/list_directory', 'files/read_text_file', 'files/write_file'],
  limits: { steps: 10 },
})
