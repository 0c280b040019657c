import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isOpenToOthers } from '../../config/token-file.js'
import { type Check, fail, pass } from './check.js'

/** Whether what is in `.meup`, and the log, is for the eyes of its owner alone. */
export function modeChecks(directory: string, logFile: string | undefined): Check[] {
  const folder = join(directory, '.meup')
  const log = logFile === undefined ? [] : ['', '-wal', '-shm', '.lock'].map((end) => `${logFile}${end}`)
  const private_ = [...new Set([...filesIn(folder), ...log])].filter((file) => existsSync(file))
  const open = private_.filter(isOpenToOthers)
  if (open.length === 0) {
    return [
      pass('modes', private_.length === 0 ? `${folder} is made at the first start` : 'nobody else can read'),
    ]
  }
  return open.map((file) => {
    const mode = (statSync(file).mode & 0o777).toString(8)
    const right = statSync(file).isDirectory() ? '700' : '600'
    return fail('modes', `others on this machine may use ${file} (mode ${mode})`, `chmod ${right} ${file}`)
  })
}

/** The folder itself and all below it, but for what says nothing. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const below = readdirSync(folder, { withFileTypes: true, recursive: true })
  const files = below.map((entry) => join(entry.parentPath, entry.name))
  return [folder, ...files.filter((file) => file !== join(folder, '.gitignore'))]
}
