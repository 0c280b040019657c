import { draw, type Value } from '../grammar.js'
import type { Random } from '../random.js'

/** The shape of a value: a token on one line, a password, an address, or several lines. Each shape has its own notations. */
export type Kind = 'token' | 'password' | 'address' | 'lines'

/** One kind of credential. */
export interface Family {
  readonly name: string
  readonly group: string
  readonly kind: Kind
  /** Labels of the credential, in words. The first word is the owner; `vendor` is a placeholder for an invented one. */
  readonly labels: readonly string[]
  draw(random: Random): Value
}

type Grammar = string | readonly string[] | ((random: Random) => Value)

/** Families by name: templates for `draw()`, or a function, followed by the labels. */
export type Table = Readonly<Record<string, readonly [Grammar, ...labels: string[]]>>

export const familiesOf = (group: string, kind: Kind, table: Table): Family[] =>
  Object.entries(table).map(([name, [grammar, ...labels]]) => ({
    ...{ name, group, kind, labels },
    draw: typeof grammar === 'function' ? grammar : (random) => draw(random.pick([grammar].flat()), random),
  }))
