import type { ContentBlock } from '@agentclientprotocol/sdk'
import { frameMessage, type Turn } from '@meup/agent-sdk'
import { quoteForPrompt } from '@meup/agent-sdk/internal'
import { cut, inlineJson, isObject, maxShownJsonChars, onOneLine } from '@meup/folds'

type Asked = Pick<Turn, 'from' | 'text' | 'trigger'>

interface PromptParts {
  readonly turn: Asked
  /** Notes for the agent before the message; not used with a command. */
  readonly notes: readonly string[]
  readonly takesImages: boolean
  /** The agent's slash command in the message. */
  readonly command?: string | undefined
}

/** Creates an ACP prompt from a chat: the sender, the text, and the attachments. */
export function createPrompt({ turn, notes, takesImages, command }: PromptParts): ContentBlock[] {
  const { from, text, trigger } = turn
  // A command comes first, without notes and sender: agents recognize it only at the beginning of a prompt.
  const lines =
    command === undefined
      ? [...notes.map(quoteForPrompt), frameMessage({ from, text })]
      : [quoteForPrompt(command)]
  const { content } = trigger.payload as { readonly content?: unknown }
  const blocks = Array.isArray(content) ? (content as readonly unknown[]) : []
  /** Whether people who follow the space see the attachment in full: the agent must not get text that they cannot see. */
  const isSeen = (index: number): boolean =>
    inlineJson(blocks.slice(0, index + 1), maxShownJsonChars + 1).length <= maxShownJsonChars
  const attached = blocks.map((block, index): ContentBlock => {
    const image = takesImages ? readImage(block) : undefined
    if (image !== undefined) return image
    const text = readText(block)
    const shown = text === undefined ? '' : isSeen(index) ? text : ': it is too long'
    return textBlock(
      frameMessage({ from, text: shown === text ? text : `(${nameOf(block)} left out${shown})` }),
    )
  })
  return [textBlock(lines.join('\n')), ...attached]
}

const textBlock = (text: string): ContentBlock => ({ type: 'text', text })

/** Maximum characters of an attachment's name in a notice. */
const maxNameChars = 100

/** The text of an attachment. Omits links to files, since the agent would read the linked files. */
function readText(block: unknown): string | undefined {
  const { type, text, uri, resource } = isObject(block) ? block : {}
  if (type === 'text' && typeof text === 'string') return text
  if (type === 'resource_link' && isWebAddress(uri)) return `(link: ${uri})`
  return type === 'resource' && isObject(resource) && typeof resource.text === 'string'
    ? `(attached:)\n${resource.text}`
    : undefined
}

function nameOf(block: unknown): string {
  const { type, name } = isObject(block) ? block : {}
  const what = [type, name].filter((each) => typeof each === 'string').map((each) => onOneLine(String(each)))
  return cut(what.join(' ') || 'something', maxNameChars)
}

const isWebAddress = (uri: unknown): uri is string =>
  typeof uri === 'string' && /^https?:\/\/[!-~]+$/i.test(uri)

/** An image for the agent, without its `uri`, since the agent might read that file. */
function readImage(block: unknown): ContentBlock | undefined {
  const { type, data, mimeType } = isObject(block) ? block : {}
  const isImage = type === 'image' && typeof mimeType === 'string' && /^image\/[\w.+-]{1,64}$/.test(mimeType)
  return isImage && typeof data === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(data)
    ? { type, data, mimeType }
    : undefined
}
