import { type BaseClient, freshId } from '@meup/agent-sdk/watch'
import { disconnectedError, explainError } from './errors.js'
import { loadOutbox, type MessageDraft, type Outgoing, saveOutbox } from './storage.js'

interface Sender {
  readonly place: { readonly space: string }
  /** `undefined` while disconnected. */
  readonly client: BaseClient | undefined
  readonly present: { readonly log: { get(id: string): unknown } }
  readonly onChange: () => void
}

/** The reader's messages until they appear in the log. Unacknowledged ones survive a reload, and can be resent unchanged. */
export class Outbox {
  readonly #sender: Sender
  #list: readonly Outgoing[]
  /** Ids of acknowledged messages that are not in the log yet. */
  readonly #accepted = new Set<string>()
  #isClosed = false

  constructor(sender: Sender) {
    this.#sender = sender
    this.#list = loadOutbox(sender.place.space).map((each) => ({ failure: 'not acknowledged', ...each }))
  }

  /** Messages that are not in the log yet, oldest first. */
  get list(): readonly Outgoing[] {
    const { log } = this.#sender.present
    if (this.#list.some(({ id }) => log.get(id) !== undefined))
      this.#set(this.#list.filter(({ id }) => log.get(id) === undefined))
    return this.#list
  }

  send(draft: MessageDraft): void {
    const outgoing = { ...draft, id: freshId() }
    this.#set([...this.#list, outgoing])
    this.#post(outgoing)
  }

  /** Resends a message with the same id, so that the gateway accepts it only once. */
  retry(id: string): void {
    const found = this.#list.find((each) => each.id === id)
    if (found === undefined) return
    const { failure: _, ...draft } = found
    this.#replace(draft)
    this.#post(draft)
  }

  discard(id: string): void {
    this.#set(this.#list.filter((each) => each.id !== id))
    this.#sender.onChange()
  }

  /**
   * Drops messages that the gateway has acknowledged: they went into the log that was replaced, and will not appear in the new
   * one.
   */
  onLogLost(): void {
    this.#set(this.#list.filter(({ id }) => !this.#accepted.has(id)))
  }

  /** Stops saving to this tab: a send that fails later must not save a message for the next reader of the tab. */
  close(): void {
    this.#isClosed = true
  }

  #post({ message, ...options }: Outgoing): void {
    const { client, onChange } = this.#sender
    const sent = client?.chat(message, options) ?? Promise.reject(disconnectedError())
    sent.then(
      () => {
        this.#accepted.add(options.id)
        this.#save()
      },
      (error: unknown) => this.#replace({ message, ...options, failure: explainError(error) }),
    )
    onChange()
  }

  #replace(outgoing: Outgoing): void {
    this.#set(this.#list.map((each) => (each.id === outgoing.id ? outgoing : each)))
    this.#sender.onChange()
  }

  #set(list: readonly Outgoing[]): void {
    this.#list = list
    this.#save()
  }

  #save(): void {
    if (this.#isClosed) return
    const missing = this.#list.filter(({ id }) => !this.#accepted.has(id))
    saveOutbox(this.#sender.place.space, missing)
  }
}
