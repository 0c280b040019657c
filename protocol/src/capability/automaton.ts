/** A glob is a row of tokens: code points of literal characters, and these for the rest; stars are below `ANY`. */
export const ANY = -1
export const RUN = -2
export const DEEP = -3

export const isWild = (token: number): boolean => token < 0

/** A set of positions in the glob, 32 to a word. */
type Positions = Int32Array

/** What a symbol does: the stars in `stay` take it and go on, from the positions in `move` it leads to the next one. */
interface Step {
  readonly stay: Positions
  readonly move: Positions
}

/**
 * Compiles a glob, in which no two stars are neighbours, to a test of symbols that keeps the set of all positions
 * that can have been reached. So it never goes back: the time is that of symbols × glob / 32.
 */
export function automaton(
  glob: readonly number[],
  separator: number,
): (symbols: readonly number[]) => boolean {
  const words = (glob.length >>> 5) + 1
  const stars = positions(glob, (token) => token === RUN || token === DEEP)
  const deep = positions(glob, (token) => token === DEEP)
  const any = positions(glob, (token) => token === ANY)
  const steps = new Map<number, Step>([
    [separator, { stay: deep, move: positions(glob, (token) => token === separator) }],
  ])
  const other: Step = { stay: stars, move: any }
  glob.forEach((token, at) => {
    if (token === separator || isWild(token)) return
    const step = steps.get(token) ?? { stay: stars, move: any.slice() }
    add(step.move, at)
    steps.set(token, step)
  })
  const reached = new Int32Array(words)

  /** Returns whether any position is left. */
  function take({ stay, move }: Step): boolean {
    let carried = 0
    let skipped = 0
    let left = 0
    for (let word = 0; word < words; word++) {
      const before = reached[word] ?? 0
      const moved = before & (move[word] ?? 0)
      const entered = (before & (stay[word] ?? 0)) | (moved << 1) | carried
      const empty = entered & (stars[word] ?? 0)
      reached[word] = entered | (empty << 1) | skipped
      carried = moved >>> 31
      skipped = empty >>> 31
      left |= reached[word] ?? 0
    }
    return left !== 0
  }

  return (symbols) => {
    reached.fill(0)
    add(reached, 0)
    if (has(stars, 0)) add(reached, 1)
    for (const symbol of symbols) if (!take(steps.get(symbol) ?? other)) return false
    return has(reached, glob.length)
  }
}

function positions(glob: readonly number[], included: (token: number) => boolean): Positions {
  const found = new Int32Array((glob.length >>> 5) + 1)
  glob.forEach((token, at) => {
    if (included(token)) add(found, at)
  })
  return found
}

function add(set: Positions, at: number): void {
  set[at >>> 5] = (set[at >>> 5] ?? 0) | (1 << (at & 31))
}

function has(set: Positions, at: number): boolean {
  return ((set[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0
}
