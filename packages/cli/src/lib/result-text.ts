import { isObject } from '@meup/folds'
import { stringifyExact } from '@meup/protocol'

/**
 * The text of a tool result: its text blocks; without any, its structured content as JSON, or one line per other block. `''` if
 * the result has no content, or only blank texts. `separator`: text between blocks.
 */
export function getResultText(
  { content, structuredContent }: Readonly<Record<string, unknown>>,
  separator = '\n',
): string {
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  const texts = blocks.flatMap(({ text, resource }) => {
    const said = text ?? (isObject(resource) ? resource.text : undefined)
    return typeof said === 'string' ? said : []
  })
  const text = texts.join(separator)
  if (text.trim() !== '') return text
  if (structuredContent !== undefined && structuredContent !== null)
    return isBlank(structuredContent) ? '' : String(stringifyExact(structuredContent))
  return blocks.map(describeBlock).join(separator)
}

/** Whether a value is a blank text, or an object of such texts, as `{"content":""}` for an empty folder. */
function isBlank(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === ''
  const values = isObject(value) ? Object.values(value) : []
  return values.length > 0 && values.every(isBlank)
}

function describeBlock({ type, mimeType, uri, resource }: Readonly<Record<string, unknown>>): string {
  const about = isObject(resource) ? resource : { mimeType, uri }
  const what = [type, about.mimeType, about.uri].filter((part) => typeof part === 'string')
  return `[${what.join(' ') || 'a block without a type'}; --json prints it]`
}
