import { isMap, isScalar, isSeq } from 'yaml'
import { type Finding, keyOf, type Path } from './source.js'

/** `$${`, `${…}`, and a `${` that is never closed. */
const reference = /\$\$\{|\$\{([^}]*)\}|\$\{/g
const inside = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

/**
 * Replaces in every text below this node, in place, `${NAME}` by what the environment holds, and `${NAME:-default}`
 * by the default where NAME is unset or empty; `$${` stands for a literal `${`. Keys stay as they are, and what comes
 * from the environment is text, never YAML. Gives what could not be replaced.
 */
export function expandVariables(node: unknown, env: NodeJS.ProcessEnv, path: Path = []): Finding[] {
  if (isMap(node)) {
    return node.items.flatMap(({ key, value }) => expandVariables(value, env, [...path, keyOf(key)]))
  }
  if (isSeq(node)) return node.items.flatMap((item, i) => expandVariables(item, env, [...path, String(i)]))
  if (!isScalar(node) || typeof node.value !== 'string') return []
  const problems: string[] = []
  node.value = expandText(node.value, env, problems)
  return problems.length === 0 ? [] : [{ path, message: problems.join('; '), at: 'value' }]
}

function expandText(text: string, env: NodeJS.ProcessEnv, problems: string[]): string {
  return text.replace(reference, (match: string, content: string | undefined) => {
    if (match === '$${') return '${'
    const [, name, fallback] = inside.exec(content ?? '') ?? []
    if (name === undefined) {
      problems.push(`write \${NAME} or \${NAME:-default}, not ${match}; $\${ stands for a literal \${`)
      return ''
    }
    const value = env[name]
    if (fallback !== undefined) return value || fallback
    if (value === undefined) {
      problems.push(`the environment variable ${name} is not set; set it, or write \${${name}:-default}`)
    }
    return value ?? ''
  })
}
