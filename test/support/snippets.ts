import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repositoryRoot } from './files.js'

export interface Snippet {
  readonly language: string
  /** File that the snippet names; `undefined` = none. */
  readonly file: string | undefined
  readonly text: string
}

/** Lists the blocks of code of a page, in order. */
export function snippetsOf(page: string): Snippet[] {
  const text = readFileSync(join(repositoryRoot, page), 'utf8')
  return [...text.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', file, text = '']) => ({ language, file, text }),
  )
}

/** Writes the snippets that name a file. Snippets with the same file are appended to it. */
export function writeSnippets(snippets: readonly Snippet[], folder: string): void {
  for (const { file, text } of snippets) {
    if (file === undefined) continue
    const path = join(folder, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: 'a' })
  }
}
