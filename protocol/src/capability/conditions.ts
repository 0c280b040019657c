import type { StepBudget } from '../work.js'
import { type Glob, type GlobFrame, getFrame, getGlobHead, isFramed } from './glob.js'
import type { Node } from './parse.js'
import { compileNode, type Test } from './value.js'

/** The fields of a normalized envelope that capabilities test. An absent or empty `to` means everyone. */
export interface Subject {
  readonly kind: string
  readonly to?: readonly string[] | undefined
  readonly context?: string | undefined
  readonly payload: unknown
}

/** Tests the addressees of an envelope; not called if there are none. */
export type AddresseesTest = (to: readonly string[], budget: StepBudget) => boolean

/** The conditions of a capability besides its kind. */
export interface Conditions {
  /** The only permitted addressee, if the pattern of `to` is a plain name. */
  readonly only: string | undefined
  /** The test of the addressees, if the pattern of `to` is not a plain name. */
  readonly to: AddresseesTest | undefined
  readonly context: Test | undefined
  readonly questions: readonly Question[]
}

/**
 * The conditions of one capability in a single array: its only addressee, the tests of addressees and context, and then five
 * elements for each condition on the payload (`Question`). Separate objects would each cost another cache miss when thousands
 * of participants are checked in turn.
 */
export type ConditionProgram = readonly (number | string | PayloadPath | Test | AddresseesTest | undefined)[]

const HEADER = 3
/** Number of array elements of a condition on the payload: path, operation, head, tail, and `more` of a `Question`. */
const WIDTH = 5

export const assemble = ({ only, to, context, questions }: Conditions): ConditionProgram => [
  only,
  to,
  context,
  ...questions.flatMap(({ path, asked, head, tail, more }) => [path, asked, head, tail, more]),
]

/**
 * Whether the program allows an envelope of its kind. `path` and `value`: a value of the payload that the caller has already
 * read.
 */
export function allows(
  program: ConditionProgram,
  envelope: Subject,
  path: PayloadPath | undefined,
  value: unknown,
  budget: StepBudget,
): boolean {
  const { to, context, payload } = envelope
  const only = program[0] as string | undefined
  if (only !== undefined) {
    if (to === undefined || !isEach(only, to)) return false
  } else {
    const ofAddressees = program[1] as AddresseesTest | undefined
    if (ofAddressees !== undefined && (to === undefined || to.length === 0 || !ofAddressees(to, budget)))
      return false
  }
  let known = path
  let text = value
  for (let at = HEADER; at < program.length; at += WIDTH) {
    const asked = program[at] as PayloadPath
    if (asked !== known) {
      text = valueAt(payload, asked)
      known = asked
    }
    if (!passes(program, at, text, budget)) return false
  }
  const ofContext = program[2] as Test | undefined
  return ofContext === undefined || ofContext(context, budget)
}

/** Whether there are addressees, and all of them equal `only`. */
function isEach(only: string, to: readonly string[]): boolean {
  for (const name of to) if (name !== only) return false
  return to.length > 0
}

/** Whether a value of the payload meets the condition (`Question`) that begins at this index of the program. */
function passes(program: ConditionProgram, at: number, value: unknown, budget: StepBudget): boolean {
  const asked = program[at + 1] as number
  const head = program[at + 2] as string
  if (asked === EQUAL) return value === head
  if (asked === TEST) {
    return (head === '' || isFramed(value, head, '', undefined)) && (program[at + 4] as Test)(value, budget)
  }
  const without = program[at + 4] as GlobFrame['without']
  return isFramed(value, head, program[at + 3] as string, without) === (asked === FRAMED)
}

/**
 * Operations of a `Question` on the text at its path. `EQUAL`: equals the head. `FRAMED`, `NOT_FRAMED`: has, or does not have,
 * this head and tail. `TEST`: begins with the head and passes a test.
 */
const EQUAL = 0
const FRAMED = 1
export const NOT_FRAMED = 2
const TEST = 3

/** A condition on one path of a payload. Unless it is `NOT_FRAMED`, every passing text begins with `head`. */
interface Question {
  readonly path: PayloadPath
  readonly asked: number
  readonly head: string
  readonly tail: string
  /** For `TEST`: the test. For `FRAMED` and `NOT_FRAMED`: the separator that may not be between head and tail. */
  readonly more: GlobFrame['without'] | Test
}

/** Compiles a pattern to questions about nested fields, the most distinctive questions first. */
export function compileQuestions(pattern: Node): Question[] {
  const begun: Question[] = []
  const literals: Question[] = []
  const others: Question[] = []

  function add(node: Node, keys: readonly string[]): void {
    const path = internPath(keys)
    if (node.type === 'glob' && node.text !== undefined)
      literals.push({ path, asked: EQUAL, head: node.text, tail: '', more: undefined })
    else if (node.type !== 'object' || node.fields.length === 0) {
      const framed = framedQuestions(node, path)
      if (framed === undefined)
        others.push({
          path,
          asked: TEST,
          head: getGlobHead(onlyGlob(node)),
          tail: '',
          more: compileNode(node),
        })
      else if (framed[0]?.head === '') others.push(...framed)
      else begun.push(...framed)
    } else {
      for (const [key, field] of node.fields) add(field, [...keys, key])
      if (node.inside !== undefined) add({ type: 'object', fields: [], inside: node.inside }, keys)
    }
  }

  add(pattern, [])
  return [...begun, ...literals, ...others]
}

/** Compiles a pattern of one required glob and any excluded globs to questions; `undefined` for other patterns. */
function framedQuestions(node: Node, path: PayloadPath): Question[] | undefined {
  const { some, none } = node.type === 'choice' ? node : { some: [node], none: [] }
  const [only, ...others] = some
  if (only === undefined || others.length > 0) return undefined
  const taken = createQuestion(only, path, FRAMED)
  const refused = none.map((each) => createQuestion(each, path, NOT_FRAMED))
  return taken && refused.every((each) => each !== undefined) ? [taken, ...refused] : undefined
}

function createQuestion(node: Node, path: PayloadPath, asked: number): Question | undefined {
  const frame = node.type === 'glob' ? getFrame(node) : undefined
  return frame && { path, asked, head: frame.head, tail: frame.tail, more: frame.without }
}

/** Returns the glob that strings must match, if the pattern requires exactly one; otherwise `undefined`. */
function onlyGlob(node: Node): Glob | undefined {
  if (node.type === 'glob') return node
  const [only, ...more] = node.type === 'choice' ? node.some : []
  return more.length === 0 && only?.type === 'glob' ? only : undefined
}

/** Keys that lead from the payload to a nested value. Equal paths are the same object. */
export type PayloadPath = readonly string[]

/** Maximum number of interned paths. Beyond it, the table is cleared, so that paths of dropped lists are released. */
const maxKnownPaths = 4096
const known = new Map<string, PayloadPath>()

function internPath(keys: readonly string[]): PayloadPath {
  const name = JSON.stringify(keys)
  const path = known.get(name) ?? [...keys]
  if (known.size >= maxKnownPaths) known.clear()
  known.set(name, path)
  return path
}

/**
 * Returns the value at a path of a payload; `undefined` if absent. Properties of arrays and inherited properties do not count.
 */
export function valueAt(payload: unknown, path: PayloadPath): unknown {
  let value = payload
  for (const key of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) {
      return undefined
    }
    value = (value as Record<string, unknown>)[key]
  }
  return value
}
