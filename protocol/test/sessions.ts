import type { Capability } from '@meup/protocol'

/** Configuration of the space of a session vector. */
export interface SessionSpace {
  readonly participants: Readonly<Record<string, readonly Capability[]>>
  readonly humans?: readonly string[]
  readonly reasoning?: { readonly collaborative: boolean }
  readonly mcp?: { readonly visibility: 'everyone' | 'addressees' }
  readonly limits?: Readonly<Record<string, number>>
  readonly rates?: Readonly<Record<string, Readonly<Record<string, { perSecond: number; burst: number }>>>>
}

/** Parameters for opening a connection, besides the participant's token. */
export interface Opening {
  readonly after?: string | number
  readonly epoch?: string
  readonly tail?: number
  readonly space?: string
  readonly token?: string
  readonly protocols?: string[]
}

type Frame = Readonly<Record<string, unknown>>

/** One step of a session vector: an action or an expectation on the connection `on`. */
export interface Step {
  readonly on: string
  readonly open?: Opening
  readonly refused?: { readonly status: number; readonly code: string }
  readonly send?: string | Frame
  readonly receive?: Frame
  /** JSON pointers to fields that the received frame must not have. */
  readonly without?: readonly string[]
  /** `true` if `receive` answers a retry: its seq need not exceed those received before [MEUP-5.3]. */
  readonly again?: true
  readonly close?: true
  readonly closed?: number
}

/** The values that names in a vector, such as `"$name"`, have taken, by name. */
export type Bindings = Map<string, unknown>

/** Whether a value is as a vector expects: objects may have additional fields. Binds a name when it first occurs. */
export function fits(expected: unknown, actual: unknown, bindings: Bindings): boolean {
  if (typeof expected === 'string' && expected.startsWith('$')) {
    if (!bindings.has(expected)) bindings.set(expected, actual)
    return actual !== undefined && bindings.get(expected) === actual
  }
  if (typeof expected !== 'object' || expected === null) return expected === actual
  if (typeof actual !== 'object' || actual === null) return false
  if (Array.isArray(expected) && (!Array.isArray(actual) || actual.length !== expected.length)) return false
  return Object.entries(expected).every(([key, value]) =>
    fits(value, (actual as Record<string, unknown>)[key], bindings),
  )
}

/** Replaces the names in a value by their values. */
export function filledIn(value: unknown, bindings: Bindings): unknown {
  if (typeof value === 'string') return bindings.get(value) ?? value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => filledIn(each, bindings))
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filledIn(each, bindings)]))
}

/** Returns the value at a JSON pointer without escapes. */
export const valueAt = (pointer: string, value: unknown): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], value)
