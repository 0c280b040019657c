import type { RE2Set } from 're2js'

let engine: typeof RE2Set | undefined

export function getEngine(): typeof RE2Set {
  if (engine === undefined) throw new Error('what compiles it is not loaded yet')
  return engine
}

/**
 * Whether a pattern may be a regular expression: a text that begins with `re:` or `/`, possibly after `!` or a participant
 * [MEUP-4.3].
 */
const mayHoldOne = (patterns: readonly unknown[]): boolean =>
  /["/]!?(?:re:|\/)/.test(JSON.stringify(patterns))

export const isCompilable = (patterns: readonly unknown[]): boolean =>
  engine !== undefined || !mayHoldOne(patterns)

export async function makeCompilable(patterns: readonly unknown[]): Promise<void> {
  if (!isCompilable(patterns)) engine = (await import('re2js')).RE2Set
}
