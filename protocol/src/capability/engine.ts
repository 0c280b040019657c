import { RE2Set } from 're2js'

/** Returns the engine that compiles regular expressions. */
export const getEngine = (): typeof RE2Set => RE2Set

/**
 * Whether the regular expressions of these capabilities or patterns can be compiled. Browsers load the compiler on demand,
 * because it is larger than the rest of a client, and few spaces need it. Until then regular expressions match nothing.
 */
export const isCompilable = (_patterns: readonly unknown[]): boolean => true

/** Loads the compiler if needed. Rejects if a file cannot be loaded. */
export const makeCompilable = async (_patterns: readonly unknown[]): Promise<void> => {}
