/** Writes src/generated/heads.ts from the patterns of the rules. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { builtInRules } from '../src/built-in-rules.js'
import { headOf } from '../src/leak/head.js'

const file = new URL('../src/generated/heads.ts', import.meta.url)
const heads = Object.fromEntries(builtInRules.map(({ name, pattern }) => [name, headOf(pattern)]))
const text = `// Written by scripts/generate.ts.
import type { Head } from '../leak/head.js'

/** Of the rules of this package, by name; none where it is not known how a match begins. */
export const heads: Readonly<Record<string, Head>> = ${JSON.stringify(heads, null, 2)}
`
// A file that says the same already is left alone, so that nothing is compiled for its sake.
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, text)
}
