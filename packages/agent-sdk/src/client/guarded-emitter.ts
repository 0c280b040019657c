import { EventEmitter } from 'eventemitter3'

/**
 * An event emitter that isolates its listeners: if a listener throws or rejects, the error is reported, and the other listeners
 * are called.
 */
export class GuardedEmitter<Events extends EventEmitter.ValidEventTypes> extends EventEmitter<Events> {
  readonly #onListenerError: (error: unknown, event: PropertyKey) => void
  /** Names of events that have `once` listeners. */
  readonly #once = new Set<PropertyKey>()

  constructor(onListenerError: (error: unknown, event: PropertyKey) => void) {
    super()
    this.#onListenerError = onListenerError
  }

  override once<Name extends EventEmitter.EventNames<Events>>(
    event: Name,
    listener: EventEmitter.EventListener<Events, Name>,
    context?: unknown,
  ): this {
    this.#once.add(event)
    return super.once(event, listener, context)
  }

  override emit<Name extends EventEmitter.EventNames<Events>>(
    event: Name,
    ...args: EventEmitter.EventArgs<Events, Name>
  ): boolean {
    const listeners = this.listeners(event)
    for (const listener of listeners) {
      // Removes only the `once` listener, not the same function added with `on`.
      if (this.#once.has(event)) this.off(event, listener, undefined, true)
      try {
        const result: unknown = Reflect.apply(listener, this, args)
        if (result instanceof Promise) result.catch((error: unknown) => this.#onListenerError(error, event))
      } catch (error) {
        this.#onListenerError(error, event)
      }
    }
    return listeners.length > 0
  }
}

/** Prints a listener's error for the developer of the program, who has to fix it. */
export const printListenerError = (error: unknown, event: PropertyKey): void =>
  console.error(`a listener of "${String(event)}" failed:`, error)
