/** A glob is a row of tokens: code points of literal characters, and these for the rest. */
export const ANY = -1
export const RUN = -2
export const DEEP = -3
/** Behind the last token, so that "all matched" is a position too; equals no symbol. */
const END = -4

export const isWild = (token: number): boolean => token < 0

/**
 * Runs a glob over symbols without backtracking: after each symbol it knows, as a sorted list, every position in the
 * glob that can have been reached. Two stars must not be neighbours.
 *
 * Symbols are code points, or tokens of another glob: then a wildcard is a symbol that only an equally wide wildcard
 * takes, and the answer is whether everything that the other glob matches is provably matched by this one.
 */
export function automaton(
  glob: readonly number[],
  separator: number,
): (symbols: readonly number[]) => boolean {
  const tokens = [...glob, END]
  const supersedes = supersedingStars(glob)
  let now: number[] = []
  let next: number[] = []
  let newest = -1

  function enter(at: number): void {
    if (at <= newest) return
    if (supersedes[at]) next.length = 0
    next.push(at)
    newest = at
    const token = tokens[at]
    if (token === RUN || token === DEEP) {
      next.push(at + 1)
      newest = at + 1
    }
  }

  function advance(): void {
    const spent = now
    now = next
    next = spent
    next.length = 0
    newest = -1
  }

  return (symbols) => {
    next.length = 0
    newest = -1
    enter(0)
    advance()
    for (const symbol of symbols) {
      for (const at of now) {
        const token = tokens[at]
        if (token === DEEP) enter(at)
        else if (token === RUN) {
          if (symbol !== separator && symbol !== DEEP) enter(at)
        } else if (token === symbol || (token === ANY && symbol >= 0 && symbol !== separator)) enter(at + 1)
      }
      if (next.length === 0) return false
      advance()
    }
    return now.at(-1) === glob.length
  }
}

/**
 * The stars that match whatever could still be matched from any position before them, so that reaching one makes
 * those positions needless: every `**`, and a `*` as long as no `**` stands before it. (Behind a `**`, a `*` can run
 * into a separator that an earlier position is still able to pass.)
 */
function supersedingStars(glob: readonly number[]): boolean[] {
  const firstDeep = glob.indexOf(DEEP)
  return glob.map((token, at) => token === DEEP || (token === RUN && (firstDeep === -1 || at < firstDeep)))
}
