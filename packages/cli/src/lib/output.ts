import { printable, printableJson } from '@meup/folds'

/** Data goes to stdout; notices go to stderr, escaped, because they may quote participants. */
export const print = (line: string): boolean => process.stdout.write(`${line}\n`)
export const printNotice = (line: string): boolean => process.stderr.write(`${printable(line)}\n`)

/** One object of data, as JSON on a line. */
export const printJson = (value: unknown): boolean => print(printableJson(value))

/** Rows as lines of aligned columns. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>(
    (maximum, row) => row.map((cell, i) => Math.max(maximum[i] ?? 0, cell.length)),
    [],
  )
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
