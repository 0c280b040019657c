import { homedir } from 'node:os'
import { basename, sep } from 'node:path'
import { defaultGuard, guarded } from '@meup/folds'

/** A reason why a server cannot be a participant. `keys`: path of the value below the server. */
export class UnusableServer extends Error {
  override readonly name = 'UnusableServer'
  readonly keys: readonly string[]

  constructor(reason: string, ...keys: readonly string[]) {
    super(reason)
    this.keys = keys
  }
}

/** Matches `${NAME}` in space.yaml, but not the escaped `$${`. */
const ownReference = /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}/g

/** Variables used in space.yaml, and whether each has a default wherever it is used. */
export function findVariables(value: unknown): Map<string, { readonly hasDefault: boolean }> {
  const variables = new Map<string, { hasDefault: boolean }>()
  for (const [, name = '', fallback] of JSON.stringify(value).matchAll(ownReference)) {
    const hasDefault = fallback !== undefined && variables.get(name)?.hasDefault !== false
    variables.set(name, { hasDefault })
  }
  return variables
}

/**
 * Variables in the files of other programs: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${input:id}`, `${workspaceFolder}`,
 * `{env:NAME}`.
 */
const foreignReference = /\$\{([^}]*)\}|\{((?:env|file):[^}]+)\}|\$\{/g

/** Names of settings whose values are secret. */
const secretName = /token|secret|passw|api.?key|access.?key|private.?key|credential|authorization|cookie/i
/** An argument that contains its own name: `--token=…`, `TOKEN=…`, `X-Api-Key: …`. */
const namedArgument = /^([\w.-]+)(=|: *)(.+)$/s

const looksSecret = (name: string, text: string): boolean =>
  text !== '' && (secretName.test(name) || guarded(text, defaultGuard) !== text)

/** Translates values for space.yaml, and replaces secrets with variables. */
export class Translator {
  /** Secrets, by the variable that replaces them. */
  readonly secrets: Record<string, string> = {}
  /** Ids of `${input:id}` references, by the variable that replaces them in space.yaml. */
  readonly inputs = new Map<string, string>()
  readonly #known: Readonly<NodeJS.ProcessEnv>

  /** `known`: values of existing variables; a different secret gets another variable. */
  constructor(known: Readonly<NodeJS.ProcessEnv> = {}) {
    this.#known = known
  }

  /** Translates a map of values. `folder`: value of `${workspaceFolder}`. Throws `UnusableServer`. */
  translateAll(id: string, texts: Readonly<Record<string, string>>, folder: string, key: string) {
    return Object.fromEntries(
      Object.entries(texts).map(([name, text]) => {
        try {
          return [name, this.translate(id, name, text, folder)]
        } catch (error) {
          throw error instanceof UnusableServer ? new UnusableServer(error.message, key, name) : error
        }
      }),
    )
  }

  /**
   * Translates a command-line argument. `before`: the preceding argument, which may be the option that this one is the value
   * of.
   */
  translateArgument(id: string, before: string, given: string, folder: string): string {
    const [, name = '', sign = '', value = ''] = namedArgument.exec(given) ?? []
    if (looksSecret(name, value)) return `${name}${sign}${this.translate(id, name, value, folder)}`
    return this.translate(id, given.startsWith('-') ? 'arg' : before, given, folder)
  }

  /** Translates a value; `name`: the setting's or argument's name. */
  translate(id: string, name: string, given: string, folder: string): string {
    const whole = /^\$([A-Z_][A-Z0-9_]*)$/.exec(given)?.[1]
    if (whole !== undefined) return `\${${whole}}`
    let isReference = false
    const text = given
      .replace(/^~(?=[/\\]|$)/, () => homedir())
      .replace(foreignReference, (match, braced?: string, plain?: string) => {
        const variable = this.#readVariable(braced ?? plain ?? '')
        if (variable === undefined) return escapeReferences(expandPlace(braced ?? plain ?? '', match, folder))
        isReference = true
        return `\${${variable}}`
      })
    return !isReference && looksSecret(name, text)
      ? `\${${this.keep(
          id,
          name,
          text.replaceAll('$${', () => '${'),
        )}}`
      : text
  }

  /** Parses the inside of a reference to `NAME` or `NAME:-default`; `undefined` if it is not a variable. */
  #readVariable(inner: string): string | undefined {
    const [, input] = /^input:(.+)$/.exec(inner) ?? []
    if (input !== undefined) {
      const variable = toVariable(input)
      this.inputs.set(variable, input)
      return variable
    }
    const [, name, fallback = ''] = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(:-.*)?$/s.exec(inner) ?? []
    return name === undefined || places.has(name) ? undefined : `${name}${fallback}`
  }

  /** Records a secret; returns the variable that replaces it. */
  keep(id: string, name: string, value: string): string {
    const own = toVariable(name)
    const isFree = (variable: string): boolean =>
      (this.secrets[variable] ?? this.#known[variable] ?? value) === value
    const wanted = /^[A-Z_]+_[A-Z_]+$/.test(own) && isFree(own) ? own : toVariable(`${id}_${name}`)
    let variable = wanted
    for (let number = 2; !isFree(variable); number++) variable = `${wanted}_${number}`
    this.secrets[variable] = value
    return variable
  }
}

/** Variables that editors predefine, such as `${userHome}`, with their values for the workspace folder. */
const places = new Map<string, (folder: string) => string>([
  ['workspaceFolder', (folder) => folder],
  ['workspaceRoot', (folder) => folder],
  ['workspaceFolderBasename', (folder) => basename(folder)],
  ['userHome', () => homedir()],
  ['pathSeparator', () => sep],
  ['/', () => sep],
])

function expandPlace(inner: string, match: string, folder: string): string {
  const place = places.get(inner)
  if (place !== undefined) return place(folder)
  if (!/^[A-Za-z]+:/.test(inner)) return match
  const instead = `write the value, or \${NAME} for a variable of the environment`
  throw new UnusableServer(`it uses ${match}, which stands for something of its own program; ${instead}`)
}

const escapeReferences = (text: string): string => text.replaceAll('${', () => '$${')

function toVariable(name: string): string {
  const word = name
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toUpperCase()
  return /^[A-Z_]/.test(word) ? word : `_${word}`
}
