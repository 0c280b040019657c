import { draw, type Value } from '../grammar.js'
import type { Random } from '../random.js'

/** How a value may be written: on one line, as a password, as an address, or over several lines. */
export type Kind = 'token' | 'password' | 'address' | 'lines'

/** One kind of credential. */
export interface Family {
  readonly name: string
  readonly group: string
  readonly kind: Kind
  /** Names of variables, in words. The first word is the owner; `vendor` is a placeholder for a made-up one. */
  readonly labels: readonly string[]
  draw(random: Random): Value
}

type Grammar = string | readonly string[] | ((random: Random) => Value)

/** Families by name: the templates of `draw()`, or a function, and the labels. */
export type Table = Readonly<Record<string, readonly [Grammar, ...labels: string[]]>>

export const familiesOf = (group: string, kind: Kind, table: Table): Family[] =>
  Object.entries(table).map(([name, [grammar, ...labels]]) => ({
    ...{ name, group, kind, labels },
    draw: typeof grammar === 'function' ? grammar : (random) => draw(random.pick([grammar].flat()), random),
  }))
