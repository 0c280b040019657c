/** Some text of a row of a terminal, and how it looks: `b` bold, `d` dim, `c31` red, … */
export interface Run {
  readonly column: number
  readonly text: string
  readonly look: readonly string[]
}

/** Whether this sets the colour of what follows. */
const isColour = (code: number): boolean => (code >= 30 && code <= 37) || (code >= 90 && code <= 97)

// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins a change of colours
const change = /\u001B\[([\d;]*)m/

/** A screen as tmux tells it: text between changes of colours, which go on from one row to the next. */
export function runsOf(screen: string): Run[][] {
  const look = new Set<string>()
  return screen.split('\n').map((row) => {
    const runs: Run[] = []
    let column = 0
    for (const [at, part] of row.split(change).entries()) {
      if (at % 2 === 1) for (const code of (part || '0').split(';')) apply(Number(code), look)
      else {
        // Signs may be wider or narrower than letters in the font that there is: what follows them begins anew.
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
