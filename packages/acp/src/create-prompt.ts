import type { ContentBlock } from '@agentclientprotocol/sdk'
import { frameMessage, type Turn } from '@meup/agent-sdk'
import { quoteForPrompt } from '@meup/agent-sdk/internal'
import { cut, getNamed, inlineJson, isObject, maxShownJsonChars, onOneLine } from '@meup/folds'

type Asked = Pick<Turn, 'from' | 'text' | 'trigger'>

interface PromptParts {
  readonly turn: Asked
  /** Notes before the message in the prompt; not used for a command. */
  readonly notes: readonly string[]
  readonly takesImages: boolean
  /** The agent's command in the message. */
  readonly command?: string | undefined
}

/** A chat as an ACP prompt: the text, its sender, and attachments. */
export function createPrompt({ turn, notes, takesImages, command }: PromptParts): ContentBlock[] {
  const { from, text, trigger } = turn
  // A command only counts at the beginning of a prompt.
  const lines =
    command === undefined
      ? [...notes.map(quoteForPrompt), frameMessage({ from, text })]
      : [quoteForPrompt(command)]
  const { content } = trigger.payload as { readonly content?: unknown }
  const blocks = Array.isArray(content) ? (content as readonly unknown[]) : []
  /** The part of an attachment that people see; the agent gets no more. */
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

/** `/compact`, `/review src`; not a path. */
const commandPattern = /^\/([\w:.-]+)(?:\s|$)/

/** The agent's command in a chat that addresses it by name: `/compact` or `@coder /compact`. */
export function readAgentCommand(
  { text, trigger }: Pick<Asked, 'text' | 'trigger'>,
  self: string,
): { readonly name: string; readonly text: string } | undefined {
  if (getNamed(trigger)?.includes(self) !== true) return undefined
  const mention = `@${self}`
  const rest = text.startsWith(mention) ? text.slice(mention.length).replace(/^[,:]?\s+/, '') : text
  const [, name] = commandPattern.exec(rest) ?? []
  return name === undefined ? undefined : { name, text: rest }
}

const textBlock = (text: string): ContentBlock => ({ type: 'text', text })

/** Characters of an attachment's name in a notice. */
const maxNameChars = 100

/** Links to files are not passed on, because agents read the linked files. */
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

/** Without its address, which may be that of a file. */
function readImage(block: unknown): ContentBlock | undefined {
  const { type, data, mimeType } = isObject(block) ? block : {}
  const isImage = type === 'image' && typeof mimeType === 'string' && /^image\/[\w.+-]{1,64}$/.test(mimeType)
  return isImage && typeof data === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(data)
    ? { type, data, mimeType }
    : undefined
}
