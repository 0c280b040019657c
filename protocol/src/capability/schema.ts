import { type Static, Type } from '@sinclair/typebox'

/**
 * A pattern for a string [MEUP-4]: exact text, a glob (`*` any run without `/`, `**` any run, `?` one character,
 * `\` escapes), `re:` and a regular expression for the whole string, `!` and one of these for all that it does not
 * match, or an array: at least one of its positive patterns matches, if it has any, and none of its negative ones.
 */
export const Pattern = Type.Union([Type.String(), Type.Array(Type.String())], {
  description: 'Exact text, a glob, re:<regular expression>, !<pattern>, or an array of these',
})
export type Pattern = Static<typeof Pattern>

/** A pattern for a JSON value: strings as in `Pattern`; numbers, booleans and null are equal; objects by key. */
export type PayloadPattern =
  | string
  | number
  | boolean
  | null
  | PayloadPattern[]
  | { [key: string]: PayloadPattern }
export const PayloadPattern = Type.Unsafe<PayloadPattern>({
  description: 'A pattern for a JSON value; the key ** stands for some value at any depth',
})

/**
 * What its holder may send. The schema gives the outline only: `compileCapabilities` checks the rest, because it can
 * say which pattern is wrong and why, where a schema of alternatives can only say that none of them fits.
 */
export const Capability = Type.Union(
  [
    Type.String(),
    Type.Object({
      kind: Pattern,
      to: Type.Optional(Pattern),
      context: Type.Optional(Pattern),
      payload: Type.Optional(PayloadPattern),
    }),
    Type.Object({
      tool: Type.String({ description: 'A participant and a tool of it: files/read_*' }),
      arguments: Type.Optional(PayloadPattern),
    }),
  ],
  { description: 'A pattern over the envelope: what its holder may send' },
)
export type Capability = Static<typeof Capability>
