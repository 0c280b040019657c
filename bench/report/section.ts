/** The result of one benchmark case, such as `fanout`: a block of the report. */
export interface Section {
  readonly id: string
  readonly title: string
  /** Text below the title. */
  readonly about?: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** The figures of the table as JSON, for programs and the picture. */
  readonly figures: unknown
  /** The output of a program, if there is no table. */
  readonly text?: string
}

export function print({ title, about, columns, rows, text }: Section): void {
  console.log(`\n${title}`)
  if (about !== undefined) console.log(about)
  if (text !== undefined) console.log(text)
  if (rows.length > 0) for (const line of linesOf(columns, rows)) console.log(line)
}

function linesOf(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const table = [columns, ...rows]
  const widths = columns.map((_, i) => Math.max(...table.map((row) => (row[i] ?? '').length)))
  return table
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))),
    )
    .map((cells) => cells.join('  '))
}

export const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN

export const count = (value: number): string => Math.round(value).toLocaleString('en')
export const decimals = (value: number, places = 2): string => value.toFixed(places)
export const times = (value: number): string => `${value.toFixed(2)} x`
