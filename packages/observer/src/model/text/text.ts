import {
  cut,
  type Guard,
  getParameters,
  inlineJson,
  onOneLine,
  payloadText,
  printable,
  redact,
} from '@meup/folds'
import type { Envelope } from '@meup/protocol'

/** The gateway has guarded what is thought aloud, and MCP is shown as it was said: only names of secrets are heeded. */
export const noRedaction: Guard = (text) => ({ text, isWithheld: false })

/** Characters of a text that a line has room for, and more. */
const maxLineChars = 1000

/** A text on one line, without the marks of Markdown. Names such as `__init__` and `snake_case` stay. */
export const stripMarkdown = (text: string): string =>
  cut(text, maxLineChars)
    .replace(/^ {0,3}(```|~~~).*$/gm, '')
    .replace(/^ {0,3}(?:#{1,6} +|> ?|[-*+] +(?:\[[ xX]\] +)?|\d{1,3}[.)] +)/gm, '')
    .replace(/!?\[([^[\]\n]*)\]\([^()\n]*\)/g, '$1')
    .replace(/(\*\*|~~)(?=\S)([^\n]*?\S)\1/g, '$2')
    .replace(/(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/g, '$1')
    .replace(/`+([^`\n]+)`+/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()

/** Whether a text is an address of this host, and can be taken for one of no other: `https://this@that` is of `that`. */
export const namesHost = (text: string, { host, origin }: URL): boolean =>
  text === host || (text.startsWith(origin) && /^(?:[/?#]|$)/.test(text.slice(origin.length)))

const maxParametersChars = 200

/** What an envelope says, safe to show. */
export const getText = ({ payload }: Pick<Envelope, 'payload'>): string => printable(payloadText(payload))

const maxNameChars = 200

/** A name that others have chosen, on one line. */
export const nameText = (name: string): string => onOneLine(cut(name, maxNameChars))

/** The parameters of a request or proposal on one line; `''` where there are none. */
export function parametersText({ payload }: Envelope): string {
  const { value } = redact(getParameters(payload), noRedaction)
  const text = inlineJson(value, maxParametersChars)
  return text === '{}' ? '' : onOneLine(text)
}
