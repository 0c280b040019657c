import type { Capability } from '@meup/protocol'

/** The space of a session vector: what a gateway is configured with. */
export interface SessionSpace {
  readonly participants: Readonly<Record<string, readonly Capability[]>>
  readonly humans?: readonly string[]
  readonly reasoning?: { readonly collaborative: boolean }
  readonly mcp?: { readonly visibility: 'everyone' | 'addressees' }
  readonly limits?: Readonly<Record<string, number>>
  readonly rates?: Readonly<Record<string, Readonly<Record<string, { perSecond: number; burst: number }>>>>
}

/** The request for a connection, besides its participant's token. */
export interface Opening {
  readonly after?: string | number
  readonly epoch?: string
  readonly tail?: number
  readonly space?: string
  readonly token?: string
  readonly protocols?: string[]
}

type Frame = Readonly<Record<string, unknown>>

/** One thing that happens on one connection. */
export interface Step {
  readonly on: string
  readonly open?: Opening
  readonly refused?: { readonly status: number; readonly code: string }
  readonly send?: string | Frame
  readonly receive?: Frame
  /** JSON pointers to what the frame must not have. */
  readonly without?: readonly string[]
  /** This connection has got the envelope before, or something after it. */
  readonly again?: true
  readonly close?: true
  readonly closed?: number
}

/** The values of `"$name"`. */
export type Bindings = Map<string, unknown>

/** Whether a value is what a vector expects: of objects at least the named fields. Binds names on their first sight. */
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

/** A value with its names replaced by their values. */
export function filledIn(value: unknown, bindings: Bindings): unknown {
  if (typeof value === 'string') return bindings.get(value) ?? value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => filledIn(each, bindings))
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filledIn(each, bindings)]))
}

/** The value that a JSON pointer without escapes points to. */
export const valueAt = (pointer: string, value: unknown): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], value)
