import { type Change, describeChange } from './content.js'

/** Characters of arguments, and lines of a change, that a card shows at once. */
export const maxArgumentChars = 16_000
const maxChangeLines = 200

export const fitsCard = ({ lines }: Change): boolean => lines.length <= maxChangeLines

/** Whether a card shows at once all that would be sent. Otherwise it cannot be approved before all of it was shown. */
export function isShownAtOnce(payload: Readonly<Record<string, unknown>>, json: string): boolean {
  const change = describeChange(payload)
  if (change !== undefined && !fitsCard(change)) return false
  return change?.isAll === true || json.length <= maxArgumentChars
}
