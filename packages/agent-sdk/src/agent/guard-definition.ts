import { cut, isObject } from '@meup/folds'
import { sanitize } from '@meup/safety/sanitize'
import { guardText } from './guard-text.js'

/** Maximum characters of a description, and of a tool's name, in a prompt. */
const [maxDescriptionChars, maxNameChars] = [2000, 128]
/** Maximum characters of a tool's schema as JSON. */
export const maxSchemaChars = 65_536

/** Fields of definitions and schemas that contain prose. */
const prose: ReadonlySet<string> = new Set(['description', 'title', '$comment'])

/**
 * Makes a tool definition safe for a prompt, because its owner may not be trustworthy: masks and cuts prose, and replaces
 * prompt markers in all other texts.
 */
export const guardDefinition = (
  definition: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => guardFields(definition, (name) => name !== 'name')

/** Whether a tool's name can be used in a prompt unchanged: the tool cannot be called by a changed name. */
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
