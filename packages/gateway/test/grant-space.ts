import { type StartOptions, start } from './support.js'

/** Root has all capabilities, lead can grant some, and the others have none. */
export const participants = {
  root: ['*', 'observe.targeted'],
  lead: ['capability.grant', 'work.*', 'chat'],
  ann: [],
  ben: [],
}

/** Starts a gateway, and connects all participants. */
export async function open(options: Partial<StartOptions> = {}) {
  const running = await start({ participants, ...options })
  const [root, lead] = [await running.connect('root'), await running.connect('lead')]
  const [ann, ben] = [await running.connect('ann'), await running.connect('ben')]
  return { ...running, root, lead, ann, ben }
}
