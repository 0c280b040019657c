import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * Finds a program on this machine; `undefined` = not installed. Also looks in folders that Debian keeps out of the PATH of
 * users.
 */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}
