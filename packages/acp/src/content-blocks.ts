import { cut, isObject, onOneLine } from '@meup/folds'

/** A content block in MCP's format, as ACP uses it. */
export type AcpBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource_link'
      readonly uri: string
      readonly name: string
      readonly mimeType?: string
    }
  | { readonly type: 'resource'; readonly resource: Resource }

interface Resource {
  readonly uri: string
  readonly mimeType?: string
  readonly text?: string
  /** Base64-encoded data. */
  readonly blob?: string
}

/** Maximum characters of a shown name. */
const maxNameChars = 200

/**
 * Reads content: a block, a list of blocks, or a text. Returns `undefined` if all blocks are unreadable. `onSkipped`: called
 * with each unreadable block of a list.
 */
export function readPromptBlocks(
  content: unknown,
  onSkipped: (index: number, value: unknown) => void = () => {},
): readonly AcpBlock[] | undefined {
  if (!Array.isArray(content)) {
    const block = readBlock(content)
    return block && [block]
  }
  const blocks = content.map((each: unknown, index) => {
    const block = readBlock(each)
    if (block === undefined) onSkipped(index, each)
    return block
  })
  const readable = blocks.filter((block) => block !== undefined)
  return readable.length === 0 && content.length > 0 ? undefined : readable
}

export function readBlock(block: unknown): AcpBlock | undefined {
  if (typeof block === 'string') return { type: 'text', text: block }
  if (!isObject(block)) return undefined
  const { type, text, data, mimeType, uri, name, title, resource, source } = block
  if (typeof text === 'string') return { type: 'text', text }
  if (type === 'image' || type === 'audio') {
    // Some agents send images in the format of the model's API: `source: { data, media_type }`.
    const own = isObject(source) ? { data: source.data, mimeType: source.media_type } : { data, mimeType }
    return typeof own.data === 'string'
      ? { type, data: own.data, mimeType: toText(own.mimeType) ?? `${type}/*` }
      : undefined
  }
  if (type === 'resource_link' && typeof uri === 'string') {
    const called = [title, name].find((each) => typeof each === 'string' && each !== '')
    return { type, uri, name: toText(called) ?? nameOf(uri), ...withMimeType(mimeType) }
  }
  return type === 'resource' && isObject(resource) ? readResource(resource) : undefined
}

function readResource(resource: Readonly<Record<string, unknown>>): AcpBlock | undefined {
  const { uri, text, blob, mimeType } = resource
  const about = { uri: toText(uri) ?? '', ...withMimeType(mimeType) }
  if (typeof text === 'string') return { type: 'resource', resource: { ...about, text } }
  return typeof blob === 'string' ? { type: 'resource', resource: { ...about, blob } } : undefined
}

/** Number of kept characters of a block. */
export function countBlockChars(block: AcpBlock): number {
  switch (block.type) {
    case 'text':
      return block.text.length
    case 'resource_link':
      return block.uri.length + block.name.length
    case 'resource':
      return block.resource.uri.length + (block.resource.text ?? block.resource.blob ?? '').length
    default:
      return block.data.length
  }
}

/** Renders a block as Markdown; an image becomes a line that describes it. */
export function toMarkdown(block: AcpBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource_link':
      return linkTo(block.name, block.uri)
    case 'resource': {
      const { uri, text } = block.resource
      return text === undefined ? `\n${describeMedia(block)}\n` : `\n${quoteFile(uri, text)}\n`
    }
    default:
      return `\n${describeMedia(block)}\n`
  }
}

/** Describes content other than text in a line, such as `[image: image/png, 123 KB]`. */
export function describeMedia(block: AcpBlock, why?: string): string {
  const [type, mimeType, data] =
    block.type === 'resource'
      ? ['file', block.resource.mimeType, block.resource.blob ?? block.resource.text ?? '']
      : block.type === 'image' || block.type === 'audio'
        ? [block.type, block.mimeType, block.data]
        : ['text', undefined, '']
  const facts = [mimeType && cut(onOneLine(mimeType), maxNameChars), formatSize(data), why]
  return `[${type}: ${facts.filter(Boolean).join(', ')}]`
}

/** Formats the size of base64 data. */
function formatSize(base64: string): string {
  const bytes = Math.floor((base64.replace(/=+$/, '').length * 3) / 4)
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** Creates a Markdown link with escaped special characters. */
function linkTo(name: string, uri: string): string {
  const shown = cut(onOneLine(name), maxNameChars).replace(/[[\]\\]/g, '\\$&')
  const target = uri
    .replace(/[\s<>]/g, encodeURIComponent)
    .replaceAll('(', '%28')
    .replaceAll(')', '%29')
  return `[${shown}](${target})`
}

/** Renders a file as a fenced code block below its name. */
export function quoteFile(uri: string, text: string): string {
  const runs = text.match(/`+/g) ?? []
  const fence = '`'.repeat(Math.max(2, ...runs.map(({ length }) => length)) + 1)
  return `${nameOf(uri)}:\n${fence}\n${text.trimEnd()}\n${fence}`
}

export const nameOf = (uri: string): string => uri.split('/').at(-1) || uri

const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const withMimeType = (mimeType: unknown): { readonly mimeType?: string } =>
  typeof mimeType === 'string' ? { mimeType } : {}
