import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where a program of this machine is; `undefined` = there is none. Debian keeps those of servers from the PATH of users. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}
