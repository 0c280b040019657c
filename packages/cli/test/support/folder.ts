import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type ConfigFile, parseFile } from '../../src/config/load.js'

/** A temporary folder with these files, readable only by their owner; removed after the test. */
export function folderWith(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'meup-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, name), content)
    chmodSync(join(folder, name), 0o600)
  }
  return folder
}

/** Parses a configuration as if its file were in this folder. */
export const configIn = (folder: string, text: string, env: NodeJS.ProcessEnv = {}): ConfigFile =>
  parseFile(text, { file: join(folder, 'space.yaml'), env })
