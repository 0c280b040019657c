import { suggest } from '@meup/folds'
import { KindGuard, type Static, type TObject, type TSchema } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import type { ProblemInside } from './shapes.js'
import type { ConfigFinding, YamlPath } from './yaml-source.js'

/** Whether the value matches the schema; reports every mistake. */
export function validateConfig<T extends TSchema>(
  schema: T,
  value: unknown,
  report: (finding: ConfigFinding) => void,
): value is Static<T> {
  const findings = toFindings(Value.Errors(schema, value))
  findings.forEach(report)
  return findings.length === 0
}

export function isMapValue(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function toFindings(errors: Iterable<ValueError>): ConfigFinding[] {
  return [...errors].flatMap(toFinding)
}

/** Converts a schema error. Messages come from descriptions in the schema. */
function toFinding(error: ValueError): ConfigFinding[] {
  const { schema, value } = error
  const path = parsePointer(error.path)
  const { description = '' } = schema
  if (value === undefined) return [{ path, message: `is missing; it must be ${description}`, at: 'value' }]
  switch (error.type) {
    case ValueErrorType.Never:
      return [{ path, message: description, at: 'key' }]
    case ValueErrorType.ObjectAdditionalProperties:
      return [explainKey(schema, path)]
    case ValueErrorType.Kind:
      return (schema.problemsIn(value) as ProblemInside[]).map(({ pointer, message }) => {
        return { path: [...path, ...parsePointer(pointer)], message, at: 'value' }
      })
    case ValueErrorType.Intersect:
      return [] // The members of the intersection have reported the mistakes.
    case ValueErrorType.Union:
      if (typeof schema.kinds === 'string' && isMapValue(value)) return explainVariants(error, value, path)
  }
  return [{ path, message: `must be ${description}`, at: 'value' }]
}

/**
 * Reports the mistakes of the variant that `kind` names; if there is none, of `kind` itself and of keys common to all variants.
 */
function explainVariants(error: ValueError, value: Record<string, unknown>, path: YamlPath): ConfigFinding[] {
  const variants: readonly TObject[] = error.schema.anyOf
  const chosen = variants.flatMap(({ properties: { kind } }, i) =>
    kind && Value.Check(kind, value.kind) ? [toFindings(error.errors[i] ?? [])] : [],
  )
  // If several variants match `kind`, assume the one with the fewest mistakes.
  const [inside] = chosen.sort((a, b) => a.length - b.length)
  if (inside !== undefined) return inside
  const missing = value.kind === undefined
  const message = `${missing ? 'is missing; it ' : ''}must be ${error.schema.kinds}`
  const [last = [], ...others] = error.errors.map(toFindings).reverse()
  const common = last.filter((one) =>
    others.every((findings) => findings.some((other) => isSamePlace(one, other))),
  )
  // If `kind` is wrong, unknown keys may belong to the intended kind, so they are not reported.
  const certain = common.filter(({ at }) => missing || at === 'value')
  return [{ path: [...path, 'kind'], message, at: 'value' }, ...certain]
}

const isSamePlace = (a: ConfigFinding, b: ConfigFinding): boolean => a.path.join('.') === b.path.join('.')

function explainKey(schema: TSchema, path: YamlPath): ConfigFinding {
  if (typeof schema.names === 'string') return { path, message: `must be ${schema.names}`, at: 'key' }
  return unknownKey(path, offeredKeys(schema))
}

/** Allowed keys of a map, without those that the schema lists only to reject them. */
function offeredKeys({ properties }: TSchema): string[] {
  return Object.keys(properties).filter((key) => !KindGuard.IsNever(properties[key]))
}

function unknownKey(path: YamlPath, known: readonly string[]): ConfigFinding {
  const key = path.at(-1) ?? ''
  if (/^\/[/*]/.test(key)) return { path, message: 'a comment begins with # in YAML', at: 'key' }
  const meant = suggest(key, known)
  const hint = meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`
  return { path, message: `is not known here; ${hint}`, at: 'key' }
}

/** Splits a JSON pointer into keys. */
function parsePointer(pointer: string): string[] {
  const segments = pointer.split('/').slice(1)
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}
