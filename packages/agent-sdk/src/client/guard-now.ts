import { createGuard, guardText } from './guard.js'

const guards = { createGuard, guardText }
type Guards = typeof guards

/**
 * The masking module; `undefined` until it is loaded. Its rules are larger than the rest of a browser client, and a client that
 * only asks questions needs none.
 */
export const getGuards = (): Guards | undefined => guards

export const loadGuards = async (): Promise<Guards> => guards
