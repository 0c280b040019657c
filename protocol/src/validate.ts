import { validators } from './generated/validators.js'
import { pointer } from './json.js'
import { isKnownKind } from './kinds.js'

/** What is wrong with a value: a JSON pointer to the field, and what it should be. */
export interface Problem {
  readonly path: string
  readonly message: string
}

interface SchemaError {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: {
    missingProperty?: string
    additionalProperty?: string
    type?: string
    allowedValue?: unknown
  }
}
interface Validator {
  (value: unknown): boolean
  errors?: readonly SchemaError[] | null
}

const byName = validators as Record<string, Validator>

/** Checks an envelope after its aliases are resolved; `undefined` = it is well formed [MEUP-1.2]. */
export const checkSubmission = (value: unknown): Problem | undefined => run('submission', value)

/** Checks an envelope as the gateway delivers it [MEUP-1.1]. */
export const checkEnvelope = (value: unknown): Problem | undefined => run('envelope', value)

/** Checks a payload against its kind [MEUP-3.2]. Kinds without a schema of their own have nothing to check. */
export function checkPayload(kind: string, payload: unknown): Problem | undefined {
  if (!isKnownKind(kind)) return undefined
  const problem = run(kind, payload)
  return problem && { ...problem, path: `/payload${problem.path}` }
}

function run(name: string, value: unknown): Problem | undefined {
  const validate = byName[name]
  if (validate === undefined) throw new Error(`no validator is generated for ${name}`)
  if (validate(value)) return undefined
  const errors = validate.errors ?? []
  if (errors[0] === undefined) throw new Error(`the validator of ${name} refused without saying why`)
  return explain(errors.reduce(closer), errors)
}

/** Where a field may be one thing or another, all of them were tried: the one that went furthest is meant. */
function closer(best: SchemaError, error: SchemaError): SchemaError {
  const further = error.instancePath.length - best.instancePath.length || fitness(error) - fitness(best)
  return further > 0 ? error : best
}

const fitness = ({ keyword }: SchemaError): number =>
  keyword === 'anyOf' || keyword === 'oneOf' ? 0 : keyword === 'type' ? 1 : 2

function explain(error: SchemaError, all: readonly SchemaError[]): Problem {
  const { instancePath: path, keyword, message = 'is not valid', params } = error
  const { missingProperty: missing, additionalProperty: unknown } = params
  if (missing !== undefined) return { path: `${path}/${pointer(missing)}`, message: 'is required' }
  if (unknown !== undefined) return { path: `${path}/${pointer(unknown)}`, message: 'is not a known field' }
  const choices = all.filter((other) => other.instancePath === path && other.keyword === keyword)
  if (keyword === 'const') return { path, message: `must be ${choices.map(constant).join(' or ')}` }
  if (keyword === 'type') return { path, message: `must be ${[...new Set(choices.map(type))].join(' or ')}` }
  return { path, message }
}

const constant = ({ params }: SchemaError): string => JSON.stringify(params.allowedValue)
const type = ({ params }: SchemaError): string => `${params.type}`
