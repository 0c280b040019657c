/** One character of several. `source` is JavaScript's; `characters` are those it takes, as far as `samples` have them. */
export interface Unit {
  readonly type: 'unit'
  readonly source: string
  readonly characters: ReadonlySet<string>
}

/** A place between characters: `^`, `$`, `\b`. */
interface Edge {
  readonly type: 'edge'
  readonly source: string
}

export interface Group {
  readonly type: 'group'
  readonly name?: string | undefined
  readonly choices: readonly Sequence[]
}

export interface Repeat {
  readonly type: 'repeat'
  readonly part: Part
  readonly least: number
  readonly most: number
  readonly isLazy: boolean
}

export type Part = Unit | Edge | Group | Repeat
export type Sequence = readonly Part[]

type TokenGroups = Readonly<Record<string, string | undefined>>

const token = new RegExp(
  [
    '(?<open>\\((?:\\?(?:P<(?<name>\\w+)>|(?<fold>i)?:))?)',
    '(?<close>\\))',
    '(?<or>\\|)',
    '(?:(?<sign>[*+?])|\\{(?<least>\\d+)(?<comma>,)?(?<most>\\d*)\\})(?<lazy>\\?)?',
    '(?<edge>\\\\b|[$^])',
    '(?<unit>\\[\\^?(?:\\\\[^A-Za-z]|\\\\[dwsnrtx]|[^\\]\\\\])+\\]|\\\\(?:x[0-9a-f]{2}|[dwsnrt]|[^A-Za-z0-9])|[^\\\\()[\\]|*+?{}^$.])',
  ].join('|'),
  'y',
)

interface Open {
  readonly choices: Part[][]
  readonly name?: string | undefined
  readonly foldsCase: boolean
}

/**
 * Reads a pattern in RE2 syntax as one group. Gives undefined for a pattern with anything else than what the built-in
 * rules are made of.
 */
export function readSyntax(source: string): Group | undefined {
  let open: Open = { choices: [[]], foldsCase: false }
  const outer: Open[] = []
  const parts = (): Part[] => open.choices.at(-1) ?? []
  for (token.lastIndex = 0; token.lastIndex < source.length; ) {
    const groups = token.exec(source)?.groups
    if (groups === undefined) return undefined
    const { close, or, edge, unit } = groups
    if (groups.open !== undefined) {
      outer.push(open)
      open = { choices: [[]], name: groups.name, foldsCase: open.foldsCase || groups.fold !== undefined }
    } else if (close !== undefined) {
      const { choices, name } = open
      const around = outer.pop()
      if (around === undefined) return undefined
      open = around
      parts().push({ type: 'group', choices, name })
    } else if (or !== undefined) open.choices.push([])
    else if (edge !== undefined) parts().push({ type: 'edge', source: edge })
    else {
      const part = unit === undefined ? repeatOf(parts().pop(), groups) : unitOf(unit, open.foldsCase)
      if (part === undefined) return undefined
      parts().push(part)
    }
  }
  return outer.length === 0 ? { type: 'group', choices: open.choices } : undefined
}

function repeatOf(
  part: Part | undefined,
  { sign, least, comma, most, lazy }: TokenGroups,
): Repeat | undefined {
  if (part === undefined) return undefined
  const isLazy = lazy !== undefined
  if (least === undefined) {
    return { type: 'repeat', part, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity, isLazy }
  }
  const end = comma === undefined ? least : most
  return { type: 'repeat', part, least: Number(least), most: Number(end || Infinity), isLazy }
}

const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
/** All of ASCII, and what stands for the rest. */
const samples = [...ascii, '\u0085', '\u00a0', '\u017f', '\u212a', 'ä', 'ñ', '\u2028', '→', '密', '\u{1f600}']
/** Classes of RE2 that JavaScript reads in another way. */
const posix = /^\[.*\[:/
const isAscii = /^[\0-\x7f]*$/

const unit = (source: string, characters: readonly string[]): Unit => ({
  type: 'unit',
  source,
  characters: new Set(characters),
})

const units = new Map<string, Unit | undefined>()

function unitOf(written: string, foldsCase: boolean): Unit | undefined {
  const key = `${foldsCase} ${written}`
  if (!units.has(key)) units.set(key, readUnit(written, foldsCase))
  return units.get(key)
}

function readUnit(written: string, foldsCase: boolean): Unit | undefined {
  if (posix.test(written)) return undefined
  const isClass = written.startsWith('[')
  const source = written.replaceAll('\\s', isClass ? '\\t\\n\\f\\r ' : '[\\t\\n\\f\\r ]')
  if (!isAscii.test(source)) return isClass ? undefined : nonAscii(source, foldsCase)
  const takes = new RegExp(`^${source}$`)
  const characters = samples.filter((sample) => takes.test(sample))
  if (source.startsWith('[^')) {
    const left = samples.filter((sample) => !characters.includes(sample))
    if (foldsCase && characters.some((each) => eitherCase(each).some((one) => left.includes(one))))
      return undefined
    return unit(`(?:[\\ud800-\\udbff][\\udc00-\\udfff]|${source})`, characters)
  }
  if (!foldsCase) return unit(source, characters)
  const folded = [...new Set(characters.flatMap(eitherCase))]
  return unit(`[${folded.map(escaped).join('')}]`, folded)
}

function nonAscii(letter: string, foldsCase: boolean): Unit {
  const characters = foldsCase ? eitherCase(letter) : [letter]
  return unit(`[${characters.join('')}]`, characters)
}

/** As RE2 folds: the long s and the sign of Kelvin are letters of ASCII too. */
function eitherCase(character: string): string[] {
  const lower = character.toLowerCase()
  const others = lower === 's' ? ['\u017f'] : lower === 'k' ? ['\u212a'] : []
  return [lower, character.toUpperCase(), ...others]
}

const escaped = (character: string): string =>
  /[\w\u0080-\uffff]/.test(character)
    ? character
    : `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
