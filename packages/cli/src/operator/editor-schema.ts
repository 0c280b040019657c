import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'

const shipped = new URL('../../schema/space.schema.json', import.meta.url)
const [ofPackage, copy] = ['node_modules/meup/schema/space.schema.json', 'space.schema.json']

/** The first line of a space.yaml in a folder with this package: editors complete and check the file by it. */
export const schemaLine = `# yaml-language-server: $schema=./${ofPackage}\n`

/** The same for any folder: without the package, the schema is copied beside the file. */
export function placeSchema(directory: string): string {
  if (existsSync(join(directory, ofPackage))) return schemaLine
  if (!existsSync(join(directory, copy))) copyFileSync(shipped, join(directory, copy))
  return schemaLine.replace(ofPackage, copy)
}
