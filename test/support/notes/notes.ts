/** A text that a reader must find; several of them where chance decides which comes first. */
export type Note = string | readonly string[]

/** Facts that a reader must learn about each turn and job, in order. By owner and number: `writer 2`, `writer job`. */
export type Notes = Readonly<Record<string, readonly Note[]>>

/** The first of the notes that is not found behind those before it. */
export function firstMissing(markdown: string, notes: readonly Note[]): Note | undefined {
  // Further lines of a text are quoted, and no text is taken for HTML.
  const said = markdown.replace(/^> /gm, '').replaceAll('&lt;', '<')
  let from = 0
  for (const note of notes) {
    const places = textsOf(note).map((text) => ({ text, at: said.indexOf(text, from) }))
    if (places.some(({ at }) => at === -1)) return note
    from = Math.max(...places.map(({ text, at }) => at + text.length))
  }
  return undefined
}

export const lengthOf = (notes: readonly Note[]): number =>
  notes.flatMap(textsOf).reduce((length, text) => length + text.length, 0)

const textsOf = (note: Note): readonly string[] => (typeof note === 'string' ? [note] : note)
