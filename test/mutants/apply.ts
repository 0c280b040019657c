import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Node, parseSync } from 'oxc-parser'
import { filesUnder, repositoryRoot } from '../support/files.js'
import type { Mutant } from './mutant.js'

export interface Edit {
  /** Path of the source file, relative to the repository. */
  readonly path: string
  /** Text of the file with the mistake. */
  readonly source: string
}

/**
 * Finds the place of a mutant, and applies its edit. Throws if the place does not exist or is not unique: then the entry in the
 * table is out of date.
 */
export function applyMutant(mutant: Mutant): Edit {
  const found = [
    ...filesUnder(`${mutant.package}/src`),
    ...filesUnder(`${mutant.package}/src`, '.tsx'),
  ].flatMap((path) => placesIn(path, mutant))
  const [edit, ...more] = found
  if (edit === undefined || more.length > 0) {
    throw new Error(`${found.length} places in ${mutant.package} ${mutant.function}: ${mutant.replace}`)
  }
  const { errors } = parseSync(edit.path, edit.source)
  if (errors.length > 0) throw new Error(`${edit.path} ${mutant.function}: ${errors[0]?.message}`)
  return edit
}

function placesIn(path: string, { function: name, replace, by }: Mutant): Edit[] {
  const source = readFileSync(join(repositoryRoot, path), 'utf8')
  if (!source.includes(replace)) return []
  const starts = new Set<number>()
  for (const { start, end } of functionsNamed(name, parseSync(path, source).program)) {
    for (let at = source.indexOf(replace, start); at >= 0 && at + replace.length <= end; ) {
      starts.add(at)
      at = source.indexOf(replace, at + 1)
    }
  }
  return [...starts].map((at) => ({
    path,
    source: source.slice(0, at) + by + source.slice(at + replace.length),
  }))
}

/** Finds functions and classes by name; `Class.method` for members of a class. */
function* functionsNamed(name: string, node: Node, owner = ''): Generator<Node> {
  const own = nameOf(node)
  if (own !== undefined && (own === name || `${owner}.${own}` === name)) yield node
  const inside = node.type === 'ClassDeclaration' ? (own ?? '') : owner
  for (const child of childrenOf(node)) yield* functionsNamed(name, child, inside)
}

function nameOf(node: Node): string | undefined {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
      return node.id?.name
    case 'VariableDeclarator':
      return node.id.type === 'Identifier' ? node.id.name : undefined
    case 'MethodDefinition':
    case 'PropertyDefinition':
    case 'Property':
      if (node.key.type === 'PrivateIdentifier') return `#${node.key.name}`
      return node.key.type === 'Identifier' ? node.key.name : undefined
    default:
      return undefined
  }
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value) => typeof value === 'object' && value !== null && 'type' in value)
}
