import { type Static, Type } from '@sinclair/typebox'

/**
 * A pattern for a string [MEUP-4]: exact text, a glob (`*` any run without `/`, `**` any run, `?` one character, `\` escapes),
 * `re:` with a regular expression for the whole string, `!` with one of these for all other strings, or an array, of which at
 * least one positive pattern (if any) and no negative one matches.
 */
export const Pattern = Type.Union([Type.String(), Type.Array(Type.String())], {
  description: 'Exact text, a glob, re:<regular expression>, !<pattern>, or an array of these',
})
export type Pattern = Static<typeof Pattern>

/** A pattern for a JSON value: strings as in `Pattern`; numbers, booleans and null match if equal; objects by key. */
export type PayloadPattern =
  | string
  | number
  | boolean
  | null
  | PayloadPattern[]
  | { [key: string]: PayloadPattern }
export const PayloadPattern = Type.Unsafe<PayloadPattern>({
  description: 'A pattern for a JSON value; the key ** matches a value at any depth',
})

/**
 * A permission of the participant that holds it. The schema is only an outline: `compileCapabilities` checks the rest with
 * precise errors, while a schema of alternatives can only say that none fits.
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
