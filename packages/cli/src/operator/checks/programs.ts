import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Config } from '../../config/config.js'
import { type Check, fail, pass } from './check.js'

/** Whether the commands of the participants that are programs can be found. */
export function programChecks({ spaces }: Config): Check[] {
  return spaces.flatMap(({ programs }) =>
    Object.entries(programs).map(([participant, program]) => {
      if (!('command' in program)) return pass('programs', `${participant} runs elsewhere`)
      const { command, env } = program
      const found = findCommand(command, env.PATH ?? process.env.PATH ?? '')
      if (found !== undefined) return pass('programs', `${participant} runs ${found}`)
      const isPath = /[\\/]/.test(command)
      const detail = `${participant}: there is no program ${command}${isPath ? '' : ' in PATH'}`
      return fail('programs', detail, 'install it, or correct the command')
    }),
  )
}

/** The file that a command stands for. */
export function findCommand(command: string, path: string): string | undefined {
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
