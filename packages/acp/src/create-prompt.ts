import type { ContentBlock } from '@agentclientprotocol/sdk'
import { frameMessage, type Turn } from '@meup/agent-sdk'
import { quoteFurtherLines } from '@meup/agent-sdk/internal'
import { cut, getNamed, inlineJson, isObject, maxShownJsonChars, onOneLine } from '@meup/folds'

type Asked = Pick<Turn, 'from' | 'text' | 'trigger'>

interface PromptParts {
  readonly turn: Asked
  /** Notes that precede the message in the prompt; not for a command. */
  readonly notes: readonly string[]
  readonly takesImages: boolean
  /** A command of the agent that the message is. */
  readonly command?: string | undefined
}

/** A chat as a prompt of ACP: what was said, by whom, and what the sender attached to it. */
export function createPrompt({ turn, notes, takesImages, command }: PromptParts): ContentBlock[] {
  const { from, text, trigger } = turn
  // A command counts only as the first thing that an agent reads.
  const lines =
    command === undefined
      ? [...notes.map(quoteFurtherLines), frameMessage({ from, text })]
      : [quoteFurtherLines(command)]
  const { content } = trigger.payload as { readonly content?: unknown }
  const blocks = Array.isArray(content) ? (content as readonly unknown[]) : []
  /** The beginning of an attachment that people see; the agent reads no more than that. */
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

/** `/compact`, `/review src`; no path. */
const commandPattern = /^\/([\w:.-]+)(?:\s|$)/

/** The command of an agent that a chat is which asks it by name: `/compact` or `@coder /compact`. */
export function readCommand(
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

/** The longest name of an attachment in a notice. */
const maxNameChars = 100

/** An agent reads the files that links name, so that links to files are not for others to give. */
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
