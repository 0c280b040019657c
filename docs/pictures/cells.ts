/** A piece of text in a row of a terminal, with its style: `b` bold, `d` dim, `c31` red, … */
export interface Run {
  readonly column: number
  readonly text: string
  readonly look: readonly string[]
}

/** Whether the code of an escape sequence sets the colour of the text. */
const isColour = (code: number): boolean => (code >= 30 && code <= 37) || (code >= 90 && code <= 97)

// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins a change of colours
const change = /\u001B\[([\d;]*)m/

/** Splits a screen, as tmux prints it, into pieces of one style. A style continues in the next row. */
export function runsOf(screen: string): Run[][] {
  const look = new Set<string>()
  return screen.split('\n').map((row) => {
    const runs: Run[] = []
    let column = 0
    for (const [at, part] of row.split(change).entries()) {
      if (at % 2 === 1) for (const code of (part || '0').split(';')) apply(Number(code), look)
      else {
        // The font may draw other characters wider or narrower than letters, so the text after them is positioned separately.
        for (const text of part.match(/[\u0020-\u007E]+|[^\u0020-\u007E]+/g) ?? []) {
          if (text.trim() !== '') runs.push({ column, text, look: [...look].sort() })
          column += [...text].length
        }
      }
    }
    return runs
  })
}

function apply(code: number, look: Set<string>): void {
  const drop = (isMeant: (name: string) => boolean) => {
    for (const name of [...look].filter(isMeant)) look.delete(name)
  }
  if (code === 0) look.clear()
  else if (code === 1) look.add('b')
  else if (code === 2) look.add('d')
  else if (code === 22) drop((name) => name === 'b' || name === 'd')
  else if (code === 39 || isColour(code)) drop((name) => name.startsWith('c'))
  if (isColour(code)) look.add(`c${code}`)
}
