import { type StartOptions, start } from './support.js'

/** Root may do anything; lead may pass on some things; the others may do nothing. */
export const participants = {
  root: ['*', 'observe.targeted'],
  lead: ['capability.grant', 'work.*', 'chat'],
  ann: [],
  ben: [],
}

/** All of them are there. */
export async function open(options: Partial<StartOptions> = {}) {
  const running = await start({ participants, ...options })
  const [root, lead] = [await running.connect('root'), await running.connect('lead')]
  const [ann, ben] = [await running.connect('ann'), await running.connect('ben')]
  return { ...running, root, lead, ann, ben }
}
