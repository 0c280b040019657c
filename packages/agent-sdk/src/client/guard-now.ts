import { createGuard, guardText } from './guard.js'

const guards = { createGuard, guardText }
type Guards = typeof guards

/**
 * What finds secrets, `undefined` until it is loaded: its rules are larger than all the rest of a client in a browser, and one that
 * only asks needs none.
 */
export const getGuards = (): Guards | undefined => guards

export const loadGuards = async (): Promise<Guards> => guards
