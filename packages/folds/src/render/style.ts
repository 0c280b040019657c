/** How the parts of a terminal text stand out. */
export interface Style {
  /** All of a reasoning section but the names of its tools. */
  section(text: string): string
  tool(text: string): string
}

export const plainStyle: Style = { section: (text) => text, tool: (text) => text }

const sgr = (codes: string, text: string): string => (text === '' ? '' : `\u001B[${codes}m${text}\u001B[0m`)

/** Dim gray sections, cyan names of tools. */
export const colourStyle: Style = { section: (text) => sgr('2;90', text), tool: (text) => sgr('36', text) }
