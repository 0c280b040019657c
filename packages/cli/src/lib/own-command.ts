import { existsSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { findExecutable } from './find-executable.js'

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
