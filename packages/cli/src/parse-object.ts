import { UsageError } from './exit.js'

/** An object given on the command line. */
export function parseObject(json: string, flag: string): object {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw new UsageError(`${flag} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${flag} takes a JSON object, such as '{"path":"README.md"}'`)
  }
  return value
}
