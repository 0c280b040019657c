/** An agent with a language model that reads a change and reviews it. */
import { connect } from '@meup/agent-sdk'

const { MODEL: model = '', MODEL_BASE_URL: baseURL = '', MODEL_API_KEY: apiKey = '' } = process.env
await using space = await connect()
await space.agent({
  ...{ model, baseURL, apiKey },
  instructions:
    'You review changes of code in a small repository. Read the file, then answer in two sentences.',
})
