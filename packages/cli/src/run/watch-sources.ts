import type { FSWatcher } from 'chokidar'
import { changedSources, type Sources } from './sources.js'

/** Milliseconds without another change: who saves often starts a program once. */
const settleMs = 200

export interface SourceWatchOptions {
  /** The files as they are now. */
  readonly read: () => Sources
  /** Whether a file that was saved unchanged counts, too. */
  readonly isWaiting: () => boolean
  /** Called with what has changed since `mark`. */
  readonly changed: (files: readonly string[]) => void
  /** What is watched may change unseen from now on. */
  readonly failed: (error: unknown) => void
}

/** Watches the files of a program. */
export class SourceWatch {
  readonly #options: SourceWatchOptions
  #marked: Sources = new Map()
  #watcher: Promise<FSWatcher> | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: SourceWatchOptions) {
    this.#options = options
  }

  /** Whether there is anything that may change. */
  get isWatching(): boolean {
    return this.#marked.size > 0
  }

  /** From now on what differs from the files as they are now is a change: the program is about to be started. */
  mark(): void {
    const before = this.#marked
    this.#marked = this.#options.read()
    this.#follow(before)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await (await this.#watcher?.catch(() => undefined))?.close()
  }

  #follow(before: Sources): void {
    if (this.#isClosed || (this.#watcher === undefined && this.#marked.size === 0)) return
    this.#watcher ??= this.#open()
    const added = [...this.#marked.keys()].filter((file) => !before.has(file))
    const gone = [...before.keys()].filter((file) => !this.#marked.has(file))
    this.#watcher.then((watcher) => {
      watcher.unwatch(gone)
      if (added.length === 0) return
      watcher.add(added)
      this.#lookLater() // What changes before it is watched is seen by looking once.
    }, this.#options.failed)
  }

  async #open(): Promise<FSWatcher> {
    const { watch } = await import('chokidar')
    const watcher = watch([], { ignoreInitial: true })
    const look = (): void => this.#lookLater()
    return watcher.on('all', look).on('ready', look).on('error', this.#options.failed)
  }

  #lookLater(): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#compare(), settleMs)
  }

  #compare(): void {
    const { read, isWaiting, changed } = this.#options
    const files = changedSources(this.#marked, read(), isWaiting())
    if (files.length > 0) changed(files)
  }
}
