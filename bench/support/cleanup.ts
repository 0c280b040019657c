/** Closes resources in reverse order. `AsyncDisposableStack` requires Node.js 24. */
export class Cleanup implements AsyncDisposable {
  readonly #tasks: (() => unknown)[] = []

  defer(task: () => unknown): void {
    this.#tasks.push(task)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const task of this.#tasks.toReversed()) await task()
  }
}
