import type { Kind } from '../families/family.js'

/**
 * A place in which secrets occur, such as a configuration file. A notation is a text with names of the secret in braces (see
 * `names.ts`), `{value}` for the secret, `{bare}` for the secret with quotes only if it needs them, and `{q}` for a quote, the
 * same one throughout. A secret of several lines is `{escaped}` (`\n` between the lines), `{block}` (indented) or `{raw}`.
 */
export interface Place {
  readonly name: string
  /** Notations by the kind of the secret. `named`: for all secrets of one line. */
  readonly notations: Partial<Record<Kind | 'named', readonly string[]>>
  readonly quotes?: string
  /**
   * Escapes a value as this place requires. Works character by character, so that a part of a value becomes a part of the
   * result.
   */
  encode?(text: string): string
  /** Lines that may come before and after a notation. */
  readonly around: readonly string[]
}
