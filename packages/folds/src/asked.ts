import { correlations, type Envelope, Kind } from '@meup/protocol'
import { Bounded } from './bounded.js'

type Chat = Pick<Envelope, 'from' | 'to' | 'context' | 'correlationId' | 'payload'>

/** The fields of a chat that decide whom it asks. */
type Asking = { readonly [Field in Exclude<keyof Chat, 'from'>]?: Chat[Field] | undefined } & Pick<
  Chat,
  'payload'
>

/** Whom a chat names, by `to` or by a mention; `undefined` = nobody. */
export function getNamed({ to, payload }: Pick<Asking, 'to' | 'payload'>): readonly string[] | undefined {
  const mentions = Array.isArray(payload.mentions) ? (payload.mentions as string[]) : []
  return to === undefined && mentions.length === 0 ? undefined : [...(to ?? []), ...mentions]
}

/** Whether a chat asks this participant, whatever it may answer. */
function asks(chat: Asking, id: string): boolean {
  if (chat.context !== undefined) return false
  return getNamed(chat)?.includes(id) ?? chat.correlationId === undefined
}

/** Own chats that are remembered. */
const maxOwn = 1000

/**
 * Tells questions from answers [MEUP-13.18]: a chat asks those whom it names, and everyone if it names nobody and answers
 * nothing; but what answers a question of one's own asks nothing. A fold of what one participant reads.
 */
export class Questions {
  readonly #own = new Bounded<Asking>(maxOwn)

  /** `id`: the participant who reads. */
  apply({ kind, id: key, from, to, context, correlationId, payload }: Envelope, id: string): void {
    if (kind !== Kind.chat || from !== id) return
    this.#own.set(key, { to, context, correlationId, payload: { mentions: payload.mentions } })
  }

  /** Whether this chat asks the participant. */
  isAsked(chat: Chat, id: string): boolean {
    const isAnswer = correlations(chat).some((own) => {
      const question = this.#own.get(own)
      return question !== undefined && asks(question, chat.from)
    })
    return !isAnswer && asks(chat, id)
  }
}

/** A line that begins with `@name`: whom alone it is for, and what it says to them. `undefined` = it names nobody who is known. */
export function readAddressee(
  line: string,
  participants: readonly string[],
): { readonly to: string; readonly text: string } | undefined {
  const [, to, text] = /^@(\S+?)[,:]?\s+(.+)$/s.exec(line) ?? []
  return to !== undefined && text !== undefined && participants.includes(to) ? { to, text } : undefined
}
