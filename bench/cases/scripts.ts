import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Options } from '../load/options.js'
import type { Section } from '../report/section.js'

/** A case that is a program of its own and prints what it finds. */
export function script(
  file: string,
  title: string,
  env: (options: Options) => NodeJS.ProcessEnv = () => ({}),
) {
  return async (options: Options): Promise<Section[]> => {
    const path = fileURLToPath(new URL(`../${file}.ts`, import.meta.url))
    const child = spawn(process.execPath, ['--import', 'tsx', path], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { ...env(options), ...process.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const said: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => said.push(chunk))
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
    const text = Buffer.concat(said).toString().trim()
    if (code !== 0) throw new Error(`${file} ended with ${code}:\n${text}`)
    return [{ id: file, title, columns: [], rows: [], figures: text.split('\n'), text }]
  }
}
