/** Writes src/generated/validators.ts and dist/schema/*.json from the TypeBox schemas. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { jsonSchemas, schemaDocument } from '../src/payload-schemas.js'

const root = new URL('..', import.meta.url)

/** Writes a file, unless it has this text already: a newer file would trigger a build. */
function write(path: string, text: string): void {
  const file = new URL(path, root)
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, text)
}

const schemas = jsonSchemas()

// `unicode: false` counts UTF-16 units and so needs no helper at run time: the generated code imports nothing.
const ajv = new Ajv({
  code: { source: true, esm: true, lines: true },
  unicode: false,
  logger: false,
  strict: true,
  strictTypes: false,
  strictRequired: false,
})
for (const schema of Object.values(schemas)) ajv.addSchema(schema)

const names = Object.keys(schemas)
const exported = Object.fromEntries(names.map((name, index) => [`check${index}`, name]))
const code = standalone.default(ajv, exported)
if (code.includes('require(')) throw new Error('the generated validators import something at run time')

const table = names.map((name, index) => `  ${JSON.stringify(name)}: check${index},`).join('\n')
write(
  'src/generated/validators.ts',
  `// @ts-nocheck: written by scripts/generate.ts\n${code.replace('"use strict";', '')}\nexport const validators = {\n${table}\n}\n`,
)

for (const [name, schema] of Object.entries(schemas)) {
  write(`dist/schema/${name}.json`, `${JSON.stringify(schemaDocument(name, schema), null, 2)}\n`)
}

// Removes old files, because the file of a renamed or removed kind would be published with `dist`.
const folder = new URL('dist/schema/', root)
for (const file of readdirSync(folder)) {
  if (!Object.hasOwn(schemas, file.replace(/\.json$/, ''))) rmSync(new URL(file, folder), { force: true })
}
