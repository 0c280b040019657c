import { type AnyEnvelope, Kind } from '@meup/protocol'
import { getGuards, loadGuards } from '#guard'
import type { BaseClient } from '../client/base-client.js'
import { setLongTimeout } from '../client/long-timeout.js'
import type { Draft } from '../client/types.js'
import { guardText } from './guard-text.js'

/** Milliseconds between two deltas of a client: the space accepts 50 per second [MEUP-13.14]. */
const intervalMs = 25
/** Characters of preceding text that are scanned with each delta, because secrets are recognized by their context. */
const guardedChars = 200
/** Maximum characters of a delta, so that the delta and its context fit in one scan. */
const maxDeltaChars = 4000

interface About {
  readonly correlationId: string
  readonly to?: readonly string[]
}

/** Shows an answer while it is written. Only the final `chat` counts, even if deltas are lost. */
export class LiveText {
  #text = ''
  /** Number of characters sent, and number of deltas. */
  #sent = 0
  #index = 0
  readonly #about: About
  readonly #deltas: Deltas
  /** Set if the text may turn out to be a thought: it is masked like one, and not sent while thoughts are hidden. */
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

  /** Retracts the text so far, because it is not part of the answer. */
  restart(): void {
    if (this.#text === '') return
    this.#text = ''
    this.repeat()
  }

  /** Sends the whole text again after a lost delta. */
  repeat(): void {
    const isShown = this.#index > 0
    this.#sent = 0
    this.#index = 0
    if (isShown) this.#deltas.schedule(this)
  }

  /** Sends no further deltas. */
  close(): void {
    this.#deltas.remove(this)
  }

  /** The next delta, if any; an empty one retracts the shown text. `isLast`: no more text is waiting. */
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

  /** Index up to which the text can be sent: not within a character, nor within a word that may be part of a secret. */
  #sendableEnd(): number {
    let end = Math.min(this.#text.length, this.#sent + maxDeltaChars)
    if (this.#isHidden !== undefined && end === this.#text.length) {
      // The last word is held back, because it may be the beginning of a secret.
      while (end > this.#sent && isOfWord(this.#text.charCodeAt(end - 1))) end--
    }
    return end > this.#sent && isHighSurrogate(this.#text.charCodeAt(end - 1)) ? end - 1 : end
  }
}

const isOfWord = (unit: number): boolean => unit > 0x20 && unit < 0x7f
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** Sends the deltas of a client, taking turns if it writes several answers. */
export class Deltas {
  readonly #client: BaseClient
  readonly #open = new Set<LiveText>()
  /** Answers with unsent characters. */
  readonly #waiting = new Set<LiveText>()
  #cancel: (() => void) | undefined
  /** Earliest time of the next delta, in milliseconds since 1970. */
  #notBefore = 0
  readonly #onEnvelope = (envelope: AnyEnvelope): void => this.#onRefused(envelope)
  readonly #onConnected = (): void => this.#repeat()

  constructor(client: BaseClient) {
    this.#client = client
  }

  /** Opens the live text of an answer. It sends nothing if the client has no capability for deltas. */
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

  /** Sends a delta. If it fails, such as by exceeding a limit of the space, only the final chat contains that text. */
  #send(text: LiveText, { draft, isLast }: { readonly draft: Draft; readonly isLast: boolean }): void {
    try {
      this.#client.post(draft)
      if (!isLast) this.#waiting.add(text)
    } catch {
      text.close()
    }
  }

  /** A refusal does not say which delta it concerns: repeats all live texts if the rate was exceeded, otherwise stops all. */
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
