import { validators } from './generated/validators.js'
import { isKnownKind } from './kinds.js'

/** What is wrong with a value: a JSON pointer to the field, and what it should be. */
export interface Problem {
  readonly path: string
  readonly message: string
}

interface SchemaError {
  readonly instancePath: string
  readonly message?: string
  readonly params: {
    missingProperty?: string
    additionalProperty?: string
    allowedValues?: readonly unknown[]
  }
}
interface Validator {
  (value: unknown): boolean
  errors?: readonly SchemaError[] | null
}

const byName = validators as Record<string, Validator>

/** Checks an envelope after its aliases are resolved; `undefined` = it is well formed [MEUP-1.1]. */
export const checkSubmission = (value: unknown): Problem | undefined => run('submission', value)

/** Checks an envelope as the gateway delivers it. */
export const checkEnvelope = (value: unknown): Problem | undefined => run('envelope', value)

/** Checks a payload against its kind. Kinds without a schema of their own have nothing to check. */
export function checkPayload(kind: string, payload: unknown): Problem | undefined {
  if (!isKnownKind(kind)) return undefined
  const problem = run(kind, payload)
  return problem && { ...problem, path: `/payload${problem.path}` }
}

function run(name: string, value: unknown): Problem | undefined {
  const validate = byName[name]
  if (validate === undefined) throw new Error(`no validator is generated for ${name}`)
  if (validate(value)) return undefined
  const [error] = validate.errors ?? []
  if (error === undefined) throw new Error(`the validator of ${name} refused without saying why`)
  return explain(error)
}

function explain({ instancePath, message = 'is not valid', params }: SchemaError): Problem {
  if (params.missingProperty !== undefined) {
    return { path: `${instancePath}/${params.missingProperty}`, message: 'is required' }
  }
  if (params.additionalProperty !== undefined) {
    return { path: `${instancePath}/${params.additionalProperty}`, message: 'is not a known field' }
  }
  return { path: instancePath, message }
}
