import { type AnyEnvelope, Kind } from '@meup/protocol'
import { lexer } from 'marked'

/** The latest message of another participant, for `/copy`. */
export class LatestAnswers {
  readonly #own: string
  #text: string | undefined

  /** `own`: id of this participant, whose messages are ignored. */
  constructor(own: string) {
    this.#own = own
  }

  onEnvelope({ kind, from, context, payload }: AnyEnvelope): void {
    const { message } = payload as { readonly message?: unknown }
    const isMessage = kind === Kind.chat && context === undefined && from !== this.#own
    if (isMessage && typeof message === 'string') this.#text = message
  }

  /** The latest message of another participant; `undefined` if there is none yet. */
  get text(): string | undefined {
    return this.#text
  }

  /** The code blocks of the latest message. */
  get codeBlocks(): string[] {
    return lexer(this.#text ?? '').flatMap((token) => (token.type === 'code' ? [token.text as string] : []))
  }
}
