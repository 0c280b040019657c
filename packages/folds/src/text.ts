type Payload = Readonly<Record<string, unknown>>

/** What a chat or a reasoning envelope says, whichever form of payload it has; `''` where it says nothing. */
export function messageOf({ message, content, goal, decision, hypothesis }: Payload): string {
  const text = message ?? content ?? goal ?? decision ?? hypothesis
  return typeof text === 'string' ? text : ''
}

/** Whether the guard kept the text back [MEUP-6.6]. */
export function isWithheld({ metadata }: Payload): boolean {
  return isObject(metadata) && metadata.withheld === true
}

/** What turns and events give as the rationale of a call whose agent gave none [MEUP-6.7]. */
export const FALLBACK_RATIONALE = 'Tool selected to satisfy the current subtask.'

/** Never blank; `null` where the sender gave none, or none that may be shown. */
export const rationaleOf = ({
  rationale = '',
}: {
  readonly rationale?: string | undefined
}): string | null => (isBlank(rationale) ? null : rationale)

/** A rationale for people. */
export const reasonText = (rationale: string | null): string => rationale ?? 'no reason given'

export const isBlank = (text: string): boolean => text.trim() === ''

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The first `most` UTF-16 units, or one less where that would leave half a character. */
export function head(text: string, most: number): string {
  if (text.length <= most) return text
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(most - 1))
  return text.slice(0, isHalf ? most - 1 : most)
}

/** At most this long; what is cut ends in `…`. */
export const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${head(text, most - 1)}…`
