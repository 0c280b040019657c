import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

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
