import type { BaseClient } from '../client/base-client.js'
import { notConfiguredError } from '../client/errors.js'
import type { ModelAgent } from '../model/run-model-agent.js'

/** Models cannot run in web pages: every visitor would get the API key. */
export const openModels = (): Promise<ModelAgent> =>
  Promise.reject(
    notConfiguredError('model', 'an agent with a language model does not run in a page. Run it in Node.'),
  )

export const runModelAgent = async (_: BaseClient, opened: Promise<ModelAgent>): Promise<void> =>
  void (await opened)
