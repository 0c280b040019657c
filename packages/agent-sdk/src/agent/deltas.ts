import { type AnyEnvelope, Kind } from '@meup/protocol'
import { getGuards, loadGuards } from '#guard'
import type { BaseClient } from '../client/base-client.js'
import type { Draft } from '../client/types.js'
import { setLongTimeout } from '../client/wait.js'
import { guardText } from './guard-text.js'

/** Milliseconds between two deltas of a client, whatever it writes: the space takes 50 a second [MEUP-13.14]. */
const intervalMs = 25
/** Characters before a piece that are looked at with it: a secret is told by what stands before it. */
const guardedChars = 200
/** Characters of one delta: with those before it not more than is looked at in one go. */
const maxDeltaChars = 4000

interface About {
  readonly correlationId: string
  readonly to?: readonly string[]
}

/** An answer that is being written, for those who look on. Whatever becomes of its deltas, the `chat` that follows is the answer. */
export class LiveText {
  #text = ''
  /** Characters that were sent, and deltas since it began. */
  #sent = 0
  #index = 0
  readonly #about: About
  readonly #deltas: Deltas
  /** What is written may become a thought: it is looked at as one, and not sent where thoughts are hidden. */
  readonly #isHidden: (() => boolean) | undefined

  constructor(about: About, isHidden: (() => boolean) | undefined, deltas: Deltas) {
    this.#about = about
    this.#isHidden = isHidden
    this.#deltas = deltas
  }

  push(text: string): void {
    this.#text += text
    this.#deltas.schedule(this)
  }

  /** What was written so far is no part of the answer. */
  restart(): void {
    if (this.#text === '') return
    this.#text = ''
    this.repeat()
  }

  /** Sends all of it once more, as a delta was lost. */
  repeat(): void {
    const isShown = this.#index > 0
    this.#sent = 0
    this.#index = 0
    if (isShown) this.#deltas.schedule(this)
  }

  /** Nothing of it is sent any more. */
  close(): void {
    this.#deltas.remove(this)
  }

  /** The next delta, if there is one at present. An empty one takes back what was shown. `isLast`: nothing more waits. */
  next(): { readonly draft: Draft; readonly isLast: boolean } | undefined {
    if (this.#isHidden?.()) return undefined
    const end = this.#sendableEnd()
    const text = this.#text.slice(this.#sent, end)
    if (text === '' && this.#text !== '') return undefined
    if (this.#isHidden !== undefined) {
      if (getGuards() === undefined) {
        const goOn = (): void => this.#deltas.schedule(this)
        loadGuards().then(goOn, () => this.close())
        return undefined
      }
      const shown = this.#text.slice(Math.max(0, this.#sent - guardedChars), end)
      if (guardText(shown) !== shown) {
        this.close()
        return undefined
      }
    }
    this.#sent = end
    const payload = { index: this.#index++, text: text.toWellFormed() }
    return { draft: { kind: Kind.chatDelta, ...this.#about, payload }, isLast: end === this.#text.length }
  }

  /** Where the text ends that can be sent: not within a character, nor within a word that may be a secret. */
  #sendableEnd(): number {
    let end = Math.min(this.#text.length, this.#sent + maxDeltaChars)
    if (this.#isHidden !== undefined && end === this.#text.length) {
      // The last word may go on, and be a secret.
      while (end > this.#sent && isOfWord(this.#text.charCodeAt(end - 1))) end--
    }
    return end > this.#sent && isHighSurrogate(this.#text.charCodeAt(end - 1)) ? end - 1 : end
  }
}

const isOfWord = (unit: number): boolean => unit > 0x20 && unit < 0x7f
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** Sends the deltas of a client, in turn where it writes several answers at once. */
export class Deltas {
  readonly #client: BaseClient
  readonly #open = new Set<LiveText>()
  /** Those with something to send. */
  readonly #waiting = new Set<LiveText>()
  #cancel: (() => void) | undefined
  /** Milliseconds since 1970 before which nothing is sent. */
  #notBefore = 0
  readonly #onEnvelope = (envelope: AnyEnvelope): void => this.#onRefused(envelope)
  readonly #onConnected = (): void => this.#repeat()

  constructor(client: BaseClient) {
    this.#client = client
  }

  /** Of a client that may not send deltas, nothing is sent. */
  open(about: About, isHidden?: () => boolean): LiveText {
    const text = new LiveText(about, isHidden, this)
    if (!this.#client.can({ kind: Kind.chatDelta, ...about })) return text
    if (this.#open.size === 0)
      this.#client.on('envelope', this.#onEnvelope).on('connected', this.#onConnected)
    this.#open.add(text)
    return text
  }

  schedule(text: LiveText): void {
    if (!this.#open.has(text)) return
    this.#waiting.add(text)
    this.#cancel ??= setLongTimeout(this.#notBefore - Date.now(), () => this.#sendNext())
  }

  remove(text: LiveText): void {
    this.#waiting.delete(text)
    if (!this.#open.delete(text) || this.#open.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
    this.#client.off('envelope', this.#onEnvelope).off('connected', this.#onConnected)
  }

  #sendNext(): void {
    this.#cancel = undefined
    const [text] = this.#waiting
    if (text === undefined) return
    this.#waiting.delete(text)
    const next = text.next()
    if (next !== undefined) this.#send(text, next)
    this.#notBefore = Date.now() + intervalMs
    const [other] = this.#waiting
    if (other !== undefined) this.schedule(other)
  }

  /** What cannot be sent, such as a piece over the limits of the space, is left to the chat. */
  #send(text: LiveText, { draft, isLast }: { readonly draft: Draft; readonly isLast: boolean }): void {
    try {
      this.#client.post(draft)
      if (!isLast) this.#waiting.add(text)
    } catch {
      text.close()
    }
  }

  /** Which one was refused is not known: all of them start over, or none goes on. */
  #onRefused({ kind, payload }: AnyEnvelope): void {
    if (kind !== Kind.systemError || payload.attemptedKind !== Kind.chatDelta) return
    if (payload.code !== 'rate_limited') {
      for (const text of [...this.#open]) text.close()
      return
    }
    this.#notBefore = Date.now() + (payload.retryAfterMs ?? 0)
    this.#cancel?.()
    this.#cancel = undefined
    this.#repeat()
  }

  #repeat(): void {
    for (const text of this.#open) text.repeat()
  }
}
