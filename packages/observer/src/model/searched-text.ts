import { printable } from '@meup/folds'
import { correlations, type Envelope, Kind } from '@meup/protocol'

/** Characters of one envelope that are looked through. */
const most = 200_000
const plain = /^[\n\t\x20-\x7e]*$/

/** What of an envelope can be found: who sent it, what it is, and every text and name in it, in small letters. */
export function searchedText({ from, kind, context = '', rationale = '', payload }: Envelope): string {
  const parts = [from, kind, context, rationale]
  let left = most
  const gather = (value: unknown): void => {
    if (left <= 0) return
    if (typeof value === 'object' && value !== null) {
      for (const [name, each] of Object.entries(value)) {
        if (!Array.isArray(value)) gather(name)
        gather(each)
      }
    } else if (value !== undefined) {
      const text = String(value).slice(0, left)
      left -= text.length
      parts.push(text)
    }
  }
  gather(payload)
  return smallLetters(parts.join('\n'))
}

/** As it shows: without what cannot be seen. */
export const smallLetters = (text: string): string =>
  (plain.test(text) ? text : printable(text)).toLowerCase()

/** Kinds that show nowhere by themselves. */
const lineless: ReadonlySet<string> = new Set([
  Kind.systemPresence,
  Kind.chatAcknowledge,
  Kind.chatCancel,
  Kind.participantStatus,
  Kind.participantRequestStatus,
])

/** Id of the envelope in whose line this one shows; `undefined`: it shows in none. */
export function holderOf(envelope: Envelope): string | undefined {
  const { id, kind } = envelope
  if (lineless.has(kind)) return undefined
  const isAnswer = kind === Kind.mcpResponse || kind === Kind.mcpReject || kind === Kind.mcpWithdraw
  return isAnswer ? (correlations(envelope)[0] ?? id) : id
}
