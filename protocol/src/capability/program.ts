import { type Frame, isFramed } from './glob.js'
import { type Path, valueAt } from './path.js'
import { EQUAL, FRAMED, type Question, TEST } from './payload.js'
import type { Test } from './value.js'

/** What capabilities look at: an envelope after normalisation. An absent or empty `to` is everyone. */
export interface Subject {
  readonly kind: string
  readonly to?: readonly string[] | undefined
  readonly context?: string | undefined
  readonly payload: unknown
}

/** Of the addressees, of whom there is one at least. */
export type AddresseesTest = (to: readonly string[]) => boolean

/** A capability, but for its kind. */
export interface Conditions {
  /** The only addressee that it allows, where its pattern is a name. */
  readonly only: string | undefined
  /** What addressees must pass otherwise. */
  readonly to: AddresseesTest | undefined
  readonly context: Test | undefined
  readonly questions: readonly Question[]
}

/**
 * The conditions of one capability in a single array: its only addressee, the tests of addressees and context, and the
 * questions, one behind the other. Each object more is another wait for memory, where thousands of participants are
 * checked by turns.
 */
export type Program = readonly (number | string | Path | Test | AddresseesTest | undefined)[]

const HEADER = 3
/** A question is the path, what is asked, a head, a tail, and what a frame is without, or a test. */
const WIDTH = 5

export const assemble = ({ only, to, context, questions }: Conditions): Program => [
  only,
  to,
  context,
  ...questions.flatMap(({ path, asked, head, tail, more }) => [path, asked, head, tail, more]),
]

/** Whether it allows an envelope of its kind. `path` and `value`: what is known of the payload. */
export function allows(program: Program, envelope: Subject, path: Path | undefined, value: unknown): boolean {
  const { to, context, payload } = envelope
  const only = program[0] as string | undefined
  if (only !== undefined) {
    if (to === undefined || !areAll(only, to)) return false
  } else {
    const ofAddressees = program[1] as AddresseesTest | undefined
    if (ofAddressees !== undefined && (to === undefined || to.length === 0 || !ofAddressees(to))) return false
  }
  let known = path
  let text = value
  for (let at = HEADER; at < program.length; at += WIDTH) {
    const asked = program[at] as Path
    if (asked !== known) {
      text = valueAt(payload, asked)
      known = asked
    }
    if (!passes(program, at, text)) return false
  }
  const ofContext = program[2] as Test | undefined
  return ofContext === undefined || ofContext(context)
}

/** Every addressee is that one, and there is one. */
function areAll(only: string, to: readonly string[]): boolean {
  for (const name of to) if (name !== only) return false
  return to.length > 0
}

/** Whether a value passes the question at a place in the program. */
function passes(program: Program, at: number, value: unknown): boolean {
  const asked = program[at + 1] as number
  const head = program[at + 2] as string
  if (asked === EQUAL) return value === head
  if (asked === TEST) {
    return (head === '' || isFramed(value, head, '', undefined)) && (program[at + 4] as Test)(value)
  }
  const without = program[at + 4] as Frame['without']
  return isFramed(value, head, program[at + 3] as string, without) === (asked === FRAMED)
}
