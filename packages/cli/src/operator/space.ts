import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { ConfigError } from '../config/config-error.js'
import { readConfig } from '../config/load.js'
import { exitCodes, UsageError } from '../exit.js'
import { print, tell } from '../output.js'
import { namesFor, spaceTemplate } from './space-template.js'
import { summaryLines, summaryOf } from './summary.js'

/** `meup space init`: writes a first `space.yaml`; never over another one. */
export function initSpace(folder: string, { json }: { json?: boolean }): void {
  const file = join(resolve(folder), 'space.yaml')
  const names = namesFor(folder)
  mkdirSync(dirname(file), { recursive: true })
  try {
    writeFileSync(file, spaceTemplate(names), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new UsageError(`${file} is there already; edit it, or name another folder`)
  }
  if (json) return void print(JSON.stringify({ file, ...names }))
  const elsewhere = relative(process.cwd(), dirname(file))
  const meup = elsewhere === '' ? 'meup' : `meup -C ${elsewhere}`
  print(file)
  tell(`the space ${names.space}, with ${names.human} (you) and an agent, ${names.agent}`)
  tell(`run it with: ${meup} up · join it from another terminal: ${meup} join`)
}

/** `meup space validate`: every mistake, or what would run. */
export function validateSpace({ config: path, json }: { config: string; json?: boolean }): void {
  const file = resolve(path)
  try {
    const read = readConfig(path)
    const summary = summaryOf(read)
    if (json) print(JSON.stringify({ valid: true, file, ...summary }))
    else for (const line of summaryLines(path, summary)) print(line)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    print(json ? JSON.stringify({ valid: false, file, problems: error.problems }) : error.message)
    process.exitCode = exitCodes.usage
  }
}
