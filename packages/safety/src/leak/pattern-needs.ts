/** Properties that every match of a pattern has. */
export interface PatternNeeds {
  /** Minimum number of consecutive non-blank characters at the beginning of a match. */
  readonly reach: number
  /** Whether a match may contain blanks. */
  readonly hasBlanks: boolean
  /** Whether a match may occur in pure prose, that is in a text of words without signs of a secret (see `isProse`). */
  readonly matchesProse: boolean
}

/** Syntax of a pattern. For RE2, only the part that is the same in JavaScript is supported. */
export type Syntax = 'javascript' | 're2'

/** Derives the properties of matches from a pattern; `undefined` = unsupported syntax, so it may match anything. */
export function readNeeds(source: string, flags: string, syntax: Syntax): PatternNeeds | undefined {
  let node: Node
  try {
    node = parsePattern(source, flags, syntax)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  const { length, isOpen } = measure(node)
  return {
    reach: Math.min(length, maxReach),
    hasBlanks: isOpen,
    matchesProse: advance(node, new Set([anywhere])).size > 0,
  }
}

/** Maximum of `reach`. */
const maxReach = 128

type Node =
  | { readonly kind: 'sequence' | 'choice'; readonly nodes: readonly Node[] }
  | { readonly kind: 'repeat'; readonly node: Node; readonly least: number; readonly maximum: number }
  | { readonly kind: 'look'; readonly node: Node; readonly isBehind: boolean }
  | ({ readonly kind: 'character' } & CharacterSet)

interface CharacterSet {
  readonly isBlank: boolean
  /** Kinds of characters of prose that the set contains. */
  readonly kinds: readonly Kind[]
}

const nothing: Node = { kind: 'sequence', nodes: [] }

/** Parses a pattern. Ignores assertions, so that the result may match more. Throws SyntaxError for unsupported syntax. */
function parsePattern(source: string, flags: string, syntax: Syntax): Node {
  let at = 0
  let ignoresCase = flags.includes('i')
  const sets = new Map<string, CharacterSet>()

  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found === null) return undefined
    at = pattern.lastIndex
    return found
  }
  const choice = (): Node => {
    const nodes = [sequence()]
    while (take(/\|/y) !== undefined) nodes.push(sequence())
    return nodes.length === 1 ? (nodes[0] as Node) : { kind: 'choice', nodes }
  }
  const sequence = (): Node => {
    const nodes: Node[] = []
    while (at < source.length && !/[|)]/.test(source.charAt(at))) nodes.push(repeated(atom()))
    return { kind: 'sequence', nodes }
  }
  const repeated = (node: Node): Node => {
    const found = take(/(?:([*+?])|\{(\d+)(,(\d*))?\})\??/y)
    if (found === undefined) return node
    const [, sign, count, range, last] = found
    const least = sign === '+' ? 1 : Number(count ?? 0)
    const isEndless = sign === '*' || sign === '+' || last === ''
    const maximum = isEndless
      ? Number.POSITIVE_INFINITY
      : sign === '?'
        ? 1
        : range === undefined
          ? least
          : Number(last)
    return { kind: 'repeat', node, least, maximum }
  }
  const group = (): Node | undefined => {
    const opening = take(/\((?:\?(?:[:=!]|<[=!]|P?<\w+>))?/y)?.[0]
    if (opening === undefined) return undefined
    if (source.charAt(at) === '?') throw new SyntaxError(`flags within a pattern: ${source}`)
    const inside = choice()
    if (take(/\)/y) === undefined) throw new SyntaxError(`a group without an end: ${source}`)
    if (opening.endsWith('!')) return nothing
    return opening.endsWith('=') ? { kind: 'look', node: inside, isBehind: opening.includes('<') } : inside
  }
  const atom = (): Node => {
    const grouped = group()
    if (grouped !== undefined) return grouped
    if (take(/[\^$]|\\[bB]/y) !== undefined) return nothing
    if (syntax === 'javascript' && take(/\\(?:[1-9]|k<\w+>)/y) !== undefined)
      return { kind: 'repeat', node: anything, least: 0, maximum: Number.POSITIVE_INFINITY }
    const one = take(characters[syntax])?.[0]
    if (one === undefined) throw new SyntaxError(`not understood at ${at}: ${source}`)
    const set = sets.get(one) ?? readSet(one, `${flags.replace(/[dgimy]/g, '')}${ignoresCase ? 'i' : ''}`)
    sets.set(one, set)
    return { kind: 'character', ...set }
  }

  if (syntax === 're2')
    for (let found = take(/\(\?([ims]+)\)/y); found !== undefined; found = take(/\(\?([ims]+)\)/y)) {
      ignoresCase ||= found[1]?.includes('i') === true
      if (found[1]?.includes('s') === true && !flags.includes('s')) flags += 's'
    }
  const node = choice()
  if (at < source.length) throw new SyntaxError(`not understood at ${at}: ${source}`)
  return node
}

/** Match a character, an escape or a character class, by syntax. */
const characters = {
  javascript: /\[(?:\\.|[^\]\\])*\]|\\(?:u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|p\{\w+\}|.)|[^*+?|()]/isy,
  re2: /\[(?!\^?\])(?:\\[dwsDWSnrtfv]|\\[!-/:-@[-`{-~]|(?!\[:)[^\]\\])+\]|\\(?:x[\da-fA-F]{2}|[dwsDWSnrtfv]|[!-/:-@[-`{-~])|[^*+?|()\\[]/y,
}

function readSet(one: string, flags: string): CharacterSet {
  const pattern = new RegExp(`^${one}$`, flags.includes('s') ? flags : `${flags}s`)
  const isAny = one === '.' && !flags.includes('s')
  const has = (character: string): boolean => pattern.test(character) && !(isAny && character === '\n')
  return {
    isBlank: [...blanks].some(has),
    kinds: kinds.filter((kind) => [...ofProse[kind]].some(has)),
  }
}

/** Characters that end a run of visible characters. */
const blanks = '\t\n\v\f\r '

/**
 * Number of visible characters at the beginning of a match. `isOpen`: the run does not end there, so that what follows may
 * extend it.
 */
interface Measure {
  readonly length: number
  readonly isOpen: boolean
}

function measure(node: Node): Measure {
  switch (node.kind) {
    case 'look':
      return { length: 0, isOpen: false }
    case 'character':
      return node.isBlank ? { length: 0, isOpen: true } : { length: 1, isOpen: false }
    case 'choice': {
      const all = node.nodes.map(measure)
      return {
        length: Math.min(...all.map(({ length }) => length)),
        isOpen: all.some(({ isOpen }) => isOpen),
      }
    }
    case 'repeat': {
      const { length, isOpen } = measure(node.node)
      if (isOpen) return { length: node.least === 0 ? 0 : length, isOpen }
      return { length: length * node.least, isOpen }
    }
    case 'sequence': {
      let length = 0
      let seen = 0
      for (const each of node.nodes) {
        const isAhead = each.kind === 'look' && !each.isBehind
        if (isAhead) seen = Math.max(seen, length + measure(each.node).length)
        const next = measure(each)
        length += next.length
        if (next.isOpen) return { length: Math.max(length, seen), isOpen: true }
      }
      return { length: Math.max(length, seen), isOpen: false }
    }
  }
}

/** All characters of prose by kind. */
const ofProse = {
  small: 'abcdefghijklmnopqrstuvwxyz',
  capital: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  digit: '0123456789',
  quote: "'\u2019",
  sign: '.,:;?()\u2014\u2026',
  blank: ' \n',
} as const
type Kind = keyof typeof ofProse
const kinds = Object.keys(ofProse) as Kind[]
const anything: Node = { kind: 'character', isBlank: true, kinds }

/** Maximum characters of a word in `isProse`. */
const maxWordChars = 15
const maxCapitals = 6
const maxDigits = 4

/** The state of a match within a word of prose, packed into a number. */
type State = number
const betweenWords: State = 0
/**
 * Positions and flags in a state: whether a match may begin within any word, counts of characters, capitals and digits, whether
 * a quote or a digit may follow, and kinds that must not come next.
 */
const [anywhere, charsAt, capitalsAt, digitsAt] = [1 << 13, 0, 4, 7]
const [small, quoted, over, forbiddenAt] = [1 << 10, 1 << 11, 1 << 12, 14]

const forbid = (state: State, kind: Kind): State => state | (1 << (forbiddenAt + kinds.indexOf(kind)))

/** Advances a state by a character; `undefined` = the text would not be prose. */
function step(state: State, kind: Kind): State | undefined {
  if (forbid(state, kind) === state) return undefined
  if (kind === 'blank') return betweenWords
  const bits = (at: number, mask: number): number => (state >> at) & mask
  const [chars, capitals, digits] = [bits(charsAt, 15), bits(capitalsAt, 7), bits(digitsAt, 7)]
  if (kind === 'digit')
    return chars > 0 || (state & over) > 0 || digits === maxDigits ? undefined : (digits + 1) << digitsAt
  if (digits > 0) return kind === 'sign' && (state & over) === 0 ? (digits << digitsAt) | over : undefined
  if (chars === maxWordChars) return undefined
  const next = ((chars + 1) << charsAt) | (state & quoted)
  const isLetter = (state & small) > 0 || capitals > 0
  switch (kind) {
    case 'small':
      return next | small
    case 'capital':
      return (state & small) > 0 || capitals === maxCapitals
        ? undefined
        : next | ((capitals + 1) << capitalsAt)
    case 'quote':
      return (state & quoted) > 0 || !(isLetter || (state & anywhere) > 0) ? undefined : next | quoted
    case 'sign':
      return next | quoted
  }
}

/** Returns the states after a node of the pattern has matched, for each state before it. */
function advance(node: Node, states: ReadonlySet<State>): ReadonlySet<State> {
  if (states.size === 0) return states
  switch (node.kind) {
    case 'character': {
      const next = new Set<State>()
      for (const state of states)
        for (const kind of node.kinds) {
          const after = step(state, kind)
          if (after !== undefined) next.add(after)
        }
      return next
    }
    case 'look': {
      if (node.isBehind) return advance(node.node, new Set([anywhere])).size > 0 ? states : new Set()
      return lookAhead(node.node, states)
    }
    case 'choice':
      return new Set(node.nodes.flatMap((each) => [...advance(each, states)]))
    case 'sequence':
      return node.nodes.reduce((before, each) => advance(each, before), states)
    case 'repeat':
      return repeat(node.node, states, node.least, node.maximum)
  }
}

/** Applies consecutive lookaheads to the character that follows them. */
function lookAhead(node: Node, states: ReadonlySet<State>): ReadonlySet<State> {
  const next = new Set<State>()
  const isPossible = (state: State): boolean => advance(node, new Set([state])).size > 0
  for (const state of states) {
    if (isPossible(kinds.reduce(forbid, state))) next.add(state)
    else if (isPossible(state)) {
      const others = (kind: Kind): State => kinds.filter((each) => each !== kind).reduce(forbid, state)
      next.add(kinds.filter((kind) => !isPossible(others(kind))).reduce(forbid, state))
    }
  }
  return next
}

function repeat(node: Node, states: ReadonlySet<State>, least: number, maximum: number): ReadonlySet<State> {
  let now = states
  for (let times = 0; times < least && now.size > 0; times++) {
    const next = advance(node, now)
    if (isSame(next, now)) break
    now = next
  }
  const all = new Set(now)
  for (let times = least; times < maximum; times++) {
    const before = all.size
    now = advance(node, now)
    for (const state of now) all.add(state)
    if (all.size === before) break
  }
  return all
}

const isSame = (one: ReadonlySet<State>, other: ReadonlySet<State>): boolean =>
  one.size === other.size && [...one].every((state) => other.has(state))

/** Whether a text keeps to the limits of words that this analysis assumes. */
export function staysProse(text: string): boolean {
  let state: State | undefined = anywhere
  for (const character of text) {
    const kind = kinds.find((each) => ofProse[each].includes(character))
    state = kind === undefined || state === undefined ? undefined : step(state, kind)
    if (state === undefined) return false
  }
  return true
}
