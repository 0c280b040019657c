import { cut, isObject } from '@meup/folds'
import { sanitize } from '@meup/safety/sanitize'
import { guardText } from './guard-text.js'

/** Characters of one description, and of the name of a tool, in a prompt. */
const [maxDescriptionChars, maxNameChars] = [2000, 128]
/** Characters of the schema of one tool, as JSON. */
export const maxSchemaChars = 65_536

/** Fields of definitions and schemas with prose. */
const prose: ReadonlySet<string> = new Set(['description', 'title', '$comment'])

/**
 * A tool definition that is safe in a prompt: prose is masked and cut; `undefined` if it contains markers of chat templates.
 * Its owner wrote all of it.
 */
export const guardDefinition = (
  definition: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => guardFields(definition, (name) => name !== 'name')

/** Whether the name of a tool can be used in a prompt: the tool cannot be called by a changed name. */
export const isPlainName = (name: string): boolean =>
  name.length <= maxNameChars && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) && sanitize(name) === name

function guardValue(value: unknown): unknown {
  if (typeof value === 'string') return sanitize(value)
  if (Array.isArray(value)) return value.map(guardValue)
  return isObject(value) ? guardFields(value, () => true) : value
}

const guardFields = (fields: Readonly<Record<string, unknown>>, isGuarded: (name: string) => boolean) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      sanitize(name),
      prose.has(name) && typeof value === 'string'
        ? cut(guardText(value), maxDescriptionChars)
        : isGuarded(name)
          ? guardValue(value)
          : value,
    ]),
  )
