import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Options } from '../load/options.js'
import { atExit, onEveryCore } from '../peers/process.js'
import type { Section } from '../report/section.js'

/** Makes a case that runs as a separate program on all cores, and prints its output line by line. */
export function script(
  file: string,
  title: string,
  env: (options: Options) => NodeJS.ProcessEnv = () => ({}),
) {
  return async (options: Options): Promise<Section[]> => {
    const path = fileURLToPath(new URL(`../${file}.ts`, import.meta.url))
    const [command, args] = onEveryCore(process.execPath, ['--import', 'tsx', path])
    const child = spawn(command, args, {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { ...env(options), ...process.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const kill = (): unknown => child.kill('SIGKILL')
    atExit.add(kill)
    const said: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => {
      said.push(line)
      console.error(line)
    })
    const [code, signal] = await new Promise<readonly [number | null, string | null]>((resolve, reject) => {
      child.once('error', reject).once('close', (...ended) => resolve(ended))
    })
    atExit.delete(kill)
    if (code !== 0) throw new Error(`${file} ended with ${code ?? signal}`)
    const text = said.join('\n').trim()
    return [{ id: file, title, columns: [], rows: [], figures: text.split('\n'), text }]
  }
}
