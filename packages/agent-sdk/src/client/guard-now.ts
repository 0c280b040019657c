import { createGuard, guardText } from './guard.js'

const guards = { createGuard, guardText }
type Guards = typeof guards

/**
 * The masking module, `undefined` until it is loaded: its rules are larger than the rest of a client in a browser, and a client
 * that only asks needs none.
 */
export const getGuards = (): Guards | undefined => guards

export const loadGuards = async (): Promise<Guards> => guards
