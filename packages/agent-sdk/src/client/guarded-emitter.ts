import { EventEmitter } from 'eventemitter3'

/** An emitter that isolates its listeners: an error of one, thrown or rejected, is reported, and the others are called. */
export class GuardedEmitter<Events extends EventEmitter.ValidEventTypes> extends EventEmitter<Events> {
  readonly #onListenerError: (error: unknown, event: PropertyKey) => void
  /** Events with `once` listeners. */
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
      // Does not remove the permanent listener.
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

/** For the developer: the error is in the program's own code. */
export const printListenerError = (error: unknown, event: PropertyKey): void =>
  console.error(`a listener of "${String(event)}" failed:`, error)
