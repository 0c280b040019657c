import { RE2Set } from 're2js'

/** The engine that compiles regular expressions. */
export const getEngine = (): typeof RE2Set => RE2Set

/**
 * Whether regular expressions of these capabilities or patterns can be compiled: browsers load what compiles them when the first one
 * is met, since it is larger than all the rest of a client, and few spaces have any. Until then they match nothing.
 */
export const isCompilable = (_patterns: readonly unknown[]): boolean => true

/** Makes them compilable. Rejects where a file cannot be loaded. */
export const makeCompilable = async (_patterns: readonly unknown[]): Promise<void> => {}
