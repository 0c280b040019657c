import { isObject, readBlocks } from '@meup/folds'

/** A content block of an MCP tool result; type `link` is MCP's `resource_link`. */
export type ResultPart =
  | { readonly type: 'text'; readonly text: string }
  /** `data`: base64 as received, not validated. */
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource'; readonly resource: EmbeddedResource }
  | {
      readonly type: 'link'
      readonly uri: string
      readonly name?: string
      readonly description?: string
      readonly mimeType?: string
      /** Size in bytes. */
      readonly size?: number
    }

/** An embedded resource: a text, or bytes as base64. */
type EmbeddedResource = { readonly uri: string; readonly mimeType?: string } & (
  | { readonly text: string; readonly blob?: undefined }
  | { readonly blob: string; readonly text?: undefined }
)

/** An MCP tool result, with its texts joined and its blocks typed. */
export interface ToolResult {
  /** The text blocks, joined by newlines. */
  readonly text: string
  /** Texts, images, audio, resources and links, in their order. Blocks of other types are omitted. */
  readonly parts: readonly ResultPart[]
  /** All content blocks as received. A plain string counts as a text block. */
  readonly content: readonly Readonly<Record<string, unknown>>[]
  /** `structuredContent` of the result. */
  readonly data: unknown
  /** Envelope id of the response. */
  readonly id: string
  /** The participant that approved the call, if it was proposed. */
  readonly approvedBy?: string
}

/** Reads an MCP tool result. Tolerates missing fields and a plain string as content. */
export function parseToolResult(result: Readonly<Record<string, unknown>>): Omit<ToolResult, 'id'> {
  const content = readBlocks(result.content)
  const text = content
    .map((block) => block.text)
    .filter((part) => typeof part === 'string')
    .join('\n')
  const parts = content.flatMap((block) => parsePart(block) ?? [])
  return { text, parts, content, data: result.structuredContent ?? undefined }
}

/** Reads a content block; `undefined` = its type is unknown, or a required field is missing. */
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
