import type { McpResponsePayload } from '@meup/protocol'
import { isObject } from '../text.js'

/** Key in `_meta` of a result that was changed from what its tool returned. */
const changedKey = 'meup/changed'
const replaced = 'characters that are not Unicode were replaced'
/** Maximum nesting that is searched; every space refuses deeper responses. */
const maxDepth = 64

/** Marks a result with replaced characters. Leaves errors unchanged. */
export function markReplaced<Response extends Pick<McpResponsePayload, 'result'>>(
  response: Response,
): Response {
  const { result } = response as { readonly result?: unknown }
  if (!isObject(result)) return response
  const meta = isObject(result._meta) ? result._meta : {}
  return { ...response, result: { ...result, _meta: { ...meta, [changedKey]: replaced } } }
}

/** Whether a name or text in a value has a lone surrogate, which is sent as U+FFFD [MEUP-1.8]. */
export function hasHalfCharacter(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null || depth > maxDepth) return false
  if (Array.isArray(value)) return value.some((each) => hasHalfCharacter(each, depth + 1))
  return Object.entries(value).some(
    ([name, each]) => !name.isWellFormed() || hasHalfCharacter(each, depth + 1),
  )
}
