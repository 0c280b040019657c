import { type FSWatcher, readdirSync, realpathSync, statSync, watch } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'

interface FileWatchOptions {
  /** Quiet period after the last change, in ms: editors write a file in several steps. */
  readonly settleMs: number
  readonly changed: () => void
  /** Called when watching fails: later changes may be missed. */
  readonly failed: (error: unknown) => void
}

/**
 * Watches files, which may not exist yet, and folders with their content. Only folders are given to the operating system: its
 * watch of a file ends unnoticed when another file is renamed to that name, as editors do on each save. That of chokidar 5.0.0
 * may end, too, whether it is given files or folders.
 */
export class FileWatch {
  readonly #options: FileWatchOptions
  /** The watched paths, also as they are without symbolic links. */
  #paths: readonly string[] = []
  #named: readonly string[] = []
  readonly #folders = new Map<string, { readonly watcher: FSWatcher; readonly inode: string }>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: FileWatchOptions) {
    this.#options = options
  }

  /** Watches these paths instead of the earlier ones. */
  follow(paths: readonly string[]): void {
    if (this.#isClosed) return
    this.#named = paths
    this.#refresh()
  }

  /** Calls `changed` once no change has come for the quiet period. */
  settle(): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#onSettled(), this.#options.settleMs)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const folder of [...this.#folders.keys()]) this.#leave(folder)
  }

  #onSettled(): void {
    this.#refresh()
    this.#options.changed()
  }

  /** Watches the folders that now hold the paths; a folder that was replaced by another one is watched again. */
  #refresh(): void {
    try {
      this.#paths = [...new Set(this.#named.flatMap((path) => [path, findTarget(path)]))]
      const wanted = new Map(this.#paths.flatMap(listFolders).map((folder) => [folder, readInode(folder)]))
      for (const [folder, { inode }] of this.#folders) if (wanted.get(folder) !== inode) this.#leave(folder)
      for (const [folder, inode] of wanted) if (!this.#folders.has(folder)) this.#enter(folder, inode)
    } catch (error) {
      // A folder can be deleted between being found and being watched.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.settle()
      else this.#options.failed(error)
    }
  }

  #enter(folder: string, inode: string): void {
    const watcher = watch(folder, (event, name) => this.#onEvent(folder, event, name))
    watcher.on('error', (error) => {
      this.#leave(folder)
      this.#options.failed(error)
    })
    this.#folders.set(folder, { watcher, inode })
  }

  #leave(folder: string): void {
    this.#folders.get(folder)?.watcher.close()
    this.#folders.delete(folder)
  }

  #onEvent(folder: string, event: string, name: string | null): void {
    const path = name === null ? folder : join(folder, name)
    // The end of a watched folder is reported as an event in it, with its own name.
    const isOwnEnd = event === 'rename' && name === basename(folder)
    // A folder that is created at once in its place may have the same inode.
    if (isOwnEnd) this.#leave(folder)
    if (isOwnEnd || this.#paths.some((each) => isWithin(each, path) || isWithin(path, each))) this.settle()
  }
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(folder + sep)

/** Folders in which changes of a path show: itself and those below if it is a folder, and the nearest one above it. */
function listFolders(path: string): string[] {
  let above = dirname(path)
  while (!isFolder(above) && above !== dirname(above)) above = dirname(above)
  if (!isFolder(path)) return [above]
  const below = readdirSync(path, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isDirectory(),
  )
  return [above, path, ...below.map(({ parentPath, name }) => join(parentPath, name))]
}

function findTarget(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function readInode(folder: string): string {
  const { dev, ino } = statSync(folder)
  return `${dev}:${ino}`
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
