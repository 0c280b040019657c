/** A fact that a reader must find, as text; several texts if their order is random. */
export type Note = string | readonly string[]

/** Facts that a reader must learn about each turn and job, in order, by agent and number: `writer 2`, `writer job`. */
export type Notes = Readonly<Record<string, readonly Note[]>>

/** Returns the first fact that does not come after the previous ones. */
export function firstMissing(markdown: string, notes: readonly Note[]): Note | undefined {
  // Undo the quotation of further lines and the escaping of HTML.
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
