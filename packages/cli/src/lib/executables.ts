import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'

/** The file that a command resolves to; `undefined` if there is none. */
export function findExecutable(command: string, path: string): string | undefined {
  const endings = process.platform === 'win32' ? ['', ...(process.env.PATHEXT ?? '').split(';')] : ['']
  const folders = /[\\/]/.test(command) ? [''] : path.split(delimiter).filter(Boolean)
  const files = folders.flatMap((folder) => endings.map((end) => join(folder, command + end)))
  return files.find(isProgram)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

const [name, ofPackages] = ['meup', join('node_modules', '.bin')]

/**
 * How a user calls this program in a folder: `meup` if it is in the shell's PATH, otherwise `npx meup` if a package.json of the
 * folder or its parents installed it. Folders that npx adds to PATH do not count: the user's shell does not have them.
 */
export function ownCommand(folder: string, path: string): string {
  const ofShell = path.split(delimiter).filter((each) => !each.endsWith(ofPackages))
  if (findExecutable(name, ofShell.join(delimiter)) !== undefined) return name
  return isPackaged(resolve(folder)) ? `npx ${name}` : name
}

function isPackaged(folder: string): boolean {
  if (existsSync(join(folder, ofPackages, name))) return true
  return folder !== dirname(folder) && isPackaged(dirname(folder))
}

/** Quotes a word for a POSIX shell. */
export const quoteWord = (word: string): string =>
  /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
