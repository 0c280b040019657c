import type { Envelope } from '@meup/protocol'
import {
  cut,
  type Guard,
  inlineJson,
  messageOf,
  onOneLine,
  parametersOf,
  printable,
  redact,
} from '@meup/views'

/** The gateway has guarded what is thought aloud, and MCP is shown as it was said: only names of secrets are heeded. */
export const asSaid: Guard = (text) => ({ text, isWithheld: false })

const longestParameters = 200

/** What an envelope says, safe to show. */
export const textOf = ({ payload }: Pick<Envelope, 'payload'>): string => printable(messageOf(payload))

const longestName = 200

/** A name that others have chosen, on one line. */
export const nameText = (name: string): string => onOneLine(cut(name, longestName))

/** The parameters of a request or proposal on one line; `''` where there are none. */
export function parametersText({ payload }: Envelope): string {
  const { value } = redact(parametersOf(payload), asSaid)
  const text = inlineJson(value, longestParameters)
  return text === '{}' ? '' : onOneLine(text)
}
