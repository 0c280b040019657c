import type { BeginDialogue } from '../model/run-model-agent.js'

/** A page has no models: whoever opens it would have the key. */
export const beginDialogues = (): Promise<BeginDialogue> =>
  Promise.reject(new Error('an agent with a language model does not run in a page: run it in Node'))
