import { accessSync, constants, type FSWatcher, readdirSync, readlinkSync, statSync, watch } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'

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
  #named: readonly string[] = []
  /** The watched paths, also as they are without symbolic links. */
  #paths: readonly string[] = []
  /** The symbolic links in these paths. */
  #links: readonly string[] = []
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
      const followed = this.#named.map(followLinks)
      this.#paths = [...new Set(this.#named.flatMap((path, i) => [path, followed[i]?.target ?? path]))]
      this.#links = [...new Set(followed.flatMap(({ links }) => links))]
      // A folder that only holds a link may not be readable, such as /home.
      const ofLinks = this.#links.map((link) => dirname(link)).filter(isReadable)
      const folders = [...this.#paths.flatMap(listFolders), ...ofLinks]
      const wanted = new Map(folders.map((folder) => [folder, readInode(folder)]))
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
    const isWatched =
      this.#links.includes(path) || this.#paths.some((each) => isWithin(each, path) || isWithin(path, each))
    if (isOwnEnd || isWatched) this.settle()
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

/** Maximum number of links in a path, as in Linux; further ones are not followed. */
const maxLinks = 40

/** Replaces the symbolic links in a path, files and folders, by their targets. */
function followLinks(path: string): { readonly target: string; readonly links: readonly string[] } {
  const links: string[] = []
  let target = path
  for (let found = findLink(path); found !== undefined && links.length < maxLinks; found = findLink(target)) {
    links.push(found.link)
    target = resolve(dirname(found.link), found.target, relative(found.link, target))
  }
  return { target, links }
}

/** The first part of a path that is a symbolic link. */
function findLink(path: string): { readonly link: string; readonly target: string } | undefined {
  const above = dirname(path)
  if (above === path) return undefined
  const target = readLink(path)
  return findLink(above) ?? (target === undefined ? undefined : { link: path, target })
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // No link, or not there.
  }
}

function readInode(folder: string): string {
  const { dev, ino } = statSync(folder)
  return `${dev}:${ino}`
}

function isReadable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK)
    return true
  } catch {
    return false
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
