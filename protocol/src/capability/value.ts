import { getErrorMessage } from '../errors.js'
import type { StepBudget } from '../work.js'
import { PatternError } from './errors.js'
import { compileGlob, type Glob, globSteps } from './glob.js'
import type { Choice, Node, Regex } from './parse.js'
import { compileRegex, regexLength } from './regex.js'

/** Tests whether a value matches a pattern. `undefined` = missing, which matches nothing. */
export type Test = (value: unknown, budget: StepBudget) => boolean

/** Compiles a pattern to a test. Throws `PatternError` for a regular expression that does not compile. */
export function compileNode(node: Node): Test {
  switch (node.type) {
    case 'glob':
    case 'regex':
      return compileString(node, false)
    case 'single':
      return isSingle
    case 'equal':
      return (value) => value === node.value
    case 'choice':
      return compileChoice(node)
    case 'object':
      return compileObject(
        node.fields.map(([key, field]) => ({ key, test: compileNode(field) })),
        node.inside && { test: compileNode(node.inside), steps: testsIn(node.inside) },
      )
  }
}

/**
 * Compiles a pattern of strings to a test. `undecided`: the result for a string that would take too long, chosen so that the
 * check refuses even after `!`.
 */
function compileString(node: Glob | Regex, undecided: boolean): Test {
  const matches = node.type === 'glob' ? compileGlob(node) : compileSource(node, undecided)
  const steps = node.type === 'glob' ? globSteps(node) : 2 * regexLength(node.source)
  if (steps === 0) return (value) => typeof value === 'string' && matches(value)
  return (value, budget) => {
    if (typeof value !== 'string') return false
    return budget.spend(value.length * steps) ? matches(value) : undecided
  }
}

function compileSource({ source, path }: Regex, undecided: boolean): (value: string) => boolean {
  try {
    return compileRegex(source, undecided)
  } catch (cause) {
    const reason = getErrorMessage(cause)
    throw new PatternError('invalid_regex', { reason }, path, { cause })
  }
}

function compileChoice({ some, none }: Choice): Test {
  const positive = anyOf(some.map(compileNode))
  if (none.length === 0) return positive
  const negative = anyOf(none.map((node) => compileString(node, true)))
  return (value, budget) => positive(value, budget) && !negative(value, budget)
}

function anyOf(tests: readonly Test[]): Test {
  const [first, second] = tests
  if (first !== undefined && second === undefined) return first
  return (value, budget) => {
    for (const test of tests) if (test(value, budget)) return true
    return false
  }
}

/** Counts the tests that a pattern may run on one value. */
function testsIn(node: Node): number {
  const parts =
    node.type === 'choice'
      ? [...node.some, ...node.none]
      : node.type === 'object'
        ? node.fields.map(([, field]) => field)
        : []
  return parts.reduce((sum, part) => sum + testsIn(part), 1)
}

/** A test for values at any depth below an object (the key `**`), and the steps that it takes per value. */
interface Inside {
  readonly test: Test
  readonly steps: number
}

function compileObject(
  fields: readonly { readonly key: string; readonly test: Test }[],
  inside: Inside | undefined,
): Test {
  return (value, budget) => {
    if (typeof value !== 'object' || value === null) return false
    const object = value as Record<string, unknown>
    for (const { key, test } of fields) if (!test(object[key], budget)) return false
    // Checks for arrays and inherited properties last, because that takes as long as the other tests, and most objects fail
    // those.
    if (Array.isArray(value) || !fields.every(({ key }) => Object.hasOwn(object, key))) return false
    return inside === undefined || someInside(object, inside, budget)
  }
}

/** Whether a value at any depth below `root` passes. Visits each value once; `false` if that takes too long. */
function someInside(root: object, { test, steps }: Inside, budget: StepBudget): boolean {
  const open: object[] = [root]
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    const values: unknown[] = Array.isArray(parent) ? parent : Object.values(parent)
    if (!budget.spend(values.length * steps)) return false
    for (const value of values) {
      if (test(value, budget)) return true
      if (typeof value === 'object' && value !== null) open.push(value)
    }
  }
  return false
}

/** Whether a value can match `!p`: patterns of texts do not apply to objects and arrays. */
function isSingle(value: unknown): boolean {
  return (
    value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  )
}
