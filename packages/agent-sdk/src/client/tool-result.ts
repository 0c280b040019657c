import { isObject, readBlocks } from '@meup/folds'

/** One content block of a tool's result as MCP has it; the type `link` is MCP's `resource_link`. */
export type ResultPart =
  | { readonly type: 'text'; readonly text: string }
  /** `data` is base64, as the tool sent it: unchecked. */
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource'; readonly resource: EmbeddedResource }
  | {
      readonly type: 'link'
      readonly uri: string
      readonly name?: string
      readonly description?: string
      readonly mimeType?: string
      /** Bytes. */
      readonly size?: number
    }

/** A text, or bytes as base64. */
type EmbeddedResource = { readonly uri: string; readonly mimeType?: string } & (
  | { readonly text: string; readonly blob?: undefined }
  | { readonly blob: string; readonly text?: undefined }
)

/** The result of a tool call. */
export interface ToolResult {
  /** The text blocks, joined by newlines. */
  readonly text: string
  /** What it is made of, in order: texts, images, audio, resources and links. Blocks that are none of these are left out. */
  readonly parts: readonly ResultPart[]
  /** All content blocks. A text in place of them is a block of text. */
  readonly content: readonly Readonly<Record<string, unknown>>[]
  /** `structuredContent`, if any. */
  readonly data: unknown
  /** Of the envelope that holds it. */
  readonly id: string
  /** Who approved the call, if it was proposed. */
  readonly approvedBy?: string
}

/** Reads an MCP tool result, whatever a tool has put into it. */
export function parseToolResult(result: Readonly<Record<string, unknown>>): Omit<ToolResult, 'id'> {
  const content = readBlocks(result.content)
  const text = content
    .map((block) => block.text)
    .filter((part) => typeof part === 'string')
    .join('\n')
  const parts = content.flatMap((block) => parsePart(block) ?? [])
  return { text, parts, content, data: result.structuredContent ?? undefined }
}

/** `undefined`: it is of another type, or lacks what its type needs. */
export function parsePart(block: Readonly<Record<string, unknown>>): ResultPart | undefined {
  const { type, text, data, mimeType, resource, uri } = block
  switch (type) {
    case 'text':
      return typeof text === 'string' ? (block as ResultPart) : undefined
    case 'image':
    case 'audio':
      return typeof data === 'string' && typeof mimeType === 'string' ? (block as ResultPart) : undefined
    case 'resource':
      return isEmbedded(resource) ? (block as ResultPart) : undefined
    case 'resource_link':
      return typeof uri === 'string' ? ({ ...block, type: 'link' } as ResultPart) : undefined
    default:
      return undefined
  }
}

const isEmbedded = (resource: unknown): boolean =>
  isObject(resource) &&
  typeof resource.uri === 'string' &&
  (typeof resource.text === 'string' || typeof resource.blob === 'string')
