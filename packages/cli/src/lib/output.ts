import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { colourStyle, keepOffMargin, plainStyle, printable, printableJson, type Style } from '@meup/folds'

/** Data goes to stdout; notices go to stderr, escaped, because they may quote participants. */
export const print = (line: string): boolean => process.stdout.write(`${line}\n`)
export const printNotice = (line: string): boolean => process.stderr.write(`${printable(line)}\n`)

/** Indentation of further lines of a participant's text in a terminal. */
export const furtherLine = '    '

/**
 * Prints text of a participant. A terminal indents further lines, which could otherwise look like a notice or another
 * participant's text; a pipe or file gets them unchanged.
 */
export const printText = (text: string): boolean =>
  print(process.stdout.isTTY ? keepOffMargin(printable(text), furtherLine) : printable(text))

/** Asks at the terminal; only `y` and `yes` confirm. */
export const confirm = async (question: string): Promise<boolean> =>
  /^y(?:es)?$/i.test((await askLine(`${question} y/N `)) ?? '')

/**
 * Asks at the terminal for the number of a line; Enter chooses the first. Resolves to its index, or `undefined` if none was
 * chosen.
 */
export async function chooseLine(question: string, lines: readonly string[]): Promise<number | undefined> {
  lines.forEach((line, index) => void process.stderr.write(`${index + 1}  ${line}\n`))
  const answer = await askLine(`${question} 1–${lines.length}, Enter: 1 `)
  if (answer === undefined) return undefined
  const index = answer === '' ? 0 : Number(answer) - 1
  return lines[index] === undefined ? undefined : index
}

/** Asks for a line of input. Resolves to `undefined` if the input ends, or on Ctrl+C. */
async function askLine(question: string): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const left = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)))
  const asked = terminal.question(question).catch(() => undefined) // Rejects after Ctrl+C, which closes the terminal and resolves `left`.
  const answer = await Promise.race([asked, left])
  terminal.close()
  return answer?.trim()
}

/** Prints a value as JSON on one line. */
export const printJson = <Value = unknown>(value: Value): boolean => print(printableJson(value))

/** Formats rows as lines with aligned columns. */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
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

/** Decimal units, such as `48 B`, `1.2 KB`, `3.4 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** Colours if stdout is a terminal that supports them and NO_COLOR is unset. */
export const getStdoutStyle = (): Style =>
  process.stdout.isTTY && process.stdout.hasColors() ? colourStyle : plainStyle

/** ANSI colours of participants, readable on light and dark backgrounds. Cyan is reserved for tools. */
const colours = [32, 33, 34, 35, 31, 92, 94, 95] as const

/** Colours a participant's name, by its id, if the style has colours. */
export const createHighlighter =
  (style: Style) =>
  (name: string, id: string): string =>
    style === colourStyle ? `\u001B[1;${colours[hashText(id) % colours.length]}m${name}\u001B[0m` : name

/** Dims text, if the terminal has colours. */
export const createDimmer =
  (style: Style) =>
  (text: string): string =>
    style === colourStyle ? `\u001B[2m${text}\u001B[0m` : text

function hashText(text: string): number {
  let hash = 7
  for (let at = 0; at < text.length; at++) hash = (31 * hash + text.charCodeAt(at)) >>> 0
  return hash
}

const { stdin, stdout, env } = process

/** Whether stdin and stdout are an interactive terminal, so that single keys can be read. */
export const isAtTerminal = (): boolean =>
  stdin.isTTY === true && stdout.isTTY === true && env.TERM !== 'dumb' && isInForeground()

/** The system stops a background process that reads from the terminal. Assumes the foreground if unknown. */
function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return group === foreground
  } catch {
    return true
  }
}
