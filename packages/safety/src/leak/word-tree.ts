/** A word of a list. */
export interface Word {
  readonly word: string
  readonly index: number
}

/** Words by their letters; state 0 stands for none. */
export interface WordTree {
  /** By the column of a letter, the state behind it where a word begins with it. */
  readonly roots: Uint32Array
  /** By state, the first one of those that go on from it; they end where those of the next state begin. */
  readonly children: Uint32Array
  /** By state, the column of the letter that leads to it. */
  readonly letters: Uint16Array
  /** By state, the lists of the words that end in it. */
  readonly ends: readonly (readonly number[] | undefined)[]
}

interface Node {
  readonly letter: number
  readonly children: Map<number, Node>
  readonly ends: number[]
}

/** `columns` has the column of each letter, of which there are `width`. */
export function compileTree(words: readonly Word[], columns: Uint16Array, width: number): WordTree {
  const root = nodeOf(0)
  for (const { word, index } of words) {
    let node = root
    for (let at = 0; at < word.length; at++) node = childOf(node, columns[word.charCodeAt(at)] ?? 0)
    node.ends.push(index)
  }
  // Level by level, so that those that go on from one state stand side by side.
  const nodes = [root]
  const children: number[] = []
  for (const { children: next } of nodes) {
    children.push(nodes.length)
    nodes.push(...next.values())
  }
  const roots = new Uint32Array(width)
  for (const [index, letter] of [...root.children.keys()].entries()) roots[letter] = 1 + index
  return {
    roots,
    children: Uint32Array.from([...children, nodes.length]),
    letters: Uint16Array.from(nodes, ({ letter }) => letter),
    ends: nodes.map(({ ends }) => (ends.length === 0 ? undefined : ends)),
  }
}

const nodeOf = (letter: number): Node => ({ letter, children: new Map(), ends: [] })

function childOf({ children }: Node, letter: number): Node {
  let child = children.get(letter)
  if (child === undefined) {
    child = nodeOf(letter)
    children.set(letter, child)
  }
  return child
}
