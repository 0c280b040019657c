import { LineCounter, parseDocument, visit, type YAMLError } from 'yaml'
import type { Problem } from './config-error.js'
import type { Source } from './source.js'

export interface Reading {
  readonly source: Source
  readonly problems: Problem[]
  /** Whether its values can be looked at in spite of the problems. */
  readonly readable: boolean
}

/** Mistakes that leave the rest of the file as it was meant. */
const harmless = ['DUPLICATE_KEY', 'TAG_RESOLVE_FAILED']

const advice: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'this key is there twice; keep one of them',
  TAG_RESOLVE_FAILED: 'tags have no meaning here; put text that begins with ! in quotes',
  BAD_ALIAS: 'an alias needs a name; put text that begins with * in quotes',
  MULTIPLE_DOCS: 'a second document begins here; put everything into one',
  NON_STRING_KEY: 'a key must be text',
  UNEXPECTED_TOKEN: 'this does not belong here; put text that holds { } [ ] , : or # in quotes',
}

/** All in all, what an anchor names may be repeated so often: enough to share a list, too little for a bomb. */
const maxAliasCount = 1000

/** Parses YAML 1.2. Values are left as they are written. */
export function readYaml(text: string): Reading {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    schema: 'core',
    resolveKnownTags: false,
    stringKeys: true,
  })
  const source = { document, lines }
  const errors: YAMLError[] = [...document.errors, ...document.warnings]
  const problems = errors.map(({ code, message, pos }) =>
    problemAt(source, pos[0], advice[code] ?? `this is not YAML: ${message}`),
  )
  if (errors.some(({ code }) => !harmless.includes(code))) {
    return { source, problems: withoutEchoes(problems), readable: false }
  }
  const fatal = document.contents === null ? [emptiness(source)] : aliasProblems(source)
  return { source, problems: [...problems, ...fatal], readable: fatal.length === 0 }
}

/** The file as plain values. Throws `ReferenceError` where aliases are wrong. */
export function plainValue({ document }: Source): unknown {
  return document.toJS({ maxAliasCount })
}

const emptiness = (source: Source): Problem =>
  problemAt(source, 0, 'the file is empty; begin with version: 1 and space: <name>')

/** Aliases of nothing, or of so much that they can only be meant to exhaust us. */
function aliasProblems(source: Source): Problem[] {
  const offsets: number[] = []
  const problems: Problem[] = []
  visit(source.document, {
    Alias(_key, alias) {
      const offset = alias.range?.[0] ?? 0
      offsets.push(offset)
      if (alias.resolve(source.document) !== undefined) return
      const message = `there is no anchor &${alias.source} above; put text that begins with * in quotes`
      problems.push(problemAt(source, offset, message))
    },
  })
  if (problems.length > 0) return problems
  try {
    plainValue(source)
    return []
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    return [problemAt(source, offsets.at(-1) ?? 0, 'aliases repeat too much of the file; write it out')]
  }
}

function problemAt({ lines }: Source, offset: number, message: string): Problem {
  const { line, col } = lines.linePos(offset)
  return { line, column: col, path: '', message }
}

/** The parser stumbles over what follows a mistake, in its line or in the same way. */
function withoutEchoes(problems: readonly Problem[]): Problem[] {
  return problems.filter(({ line, message }, i) => {
    const before = problems[i - 1]
    return before?.line !== line && before?.message !== message
  })
}
