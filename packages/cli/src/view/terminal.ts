import type { WriteStream } from 'node:tty'
import { measureWidth } from '../render/width.js'

/** The lines at the bottom, which are redrawn. */
export interface Footer {
  /** Each fits on a row. */
  readonly lines: readonly string[]
  /** Column of the cursor on the last line. */
  readonly cursor: number
}

/** The part of a stream that a terminal uses. */
export type Output = Pick<WriteStream, 'write' | 'on' | 'off'> & {
  readonly columns?: number
  readonly rows?: number
}

/** Output is collected for this long and drawn at once. */
const gatheringMs = 25

/** Synchronized output (DEC 2026) avoids flicker; terminals without it ignore the sequences. */
const [begin, end] = ['\u001B[?2026h', '\u001B[?2026l']
/** Disables wrapping while the footer is drawn, since terminals differ in the width of characters. */
const [clip, unclip] = ['\u001B[?7l', '\u001B[?7h']
/** Clears line by line: when cleared from the top, tmux keeps the old screen in its scrollback. */
const [clearLine, up, clearBelow] = ['\u001B[2K', '\u001B[A', '\u001B[J']

/** Appends permanent lines above a footer that is redrawn. */
export class Terminal {
  readonly #output: Output
  readonly #footer: () => Footer
  #waiting: string[] = []
  #drawn: Footer = { lines: [], cursor: 0 }
  #timer: NodeJS.Timeout | undefined
  #isOpen = true
  readonly #redraw = (): void => this.flush(true)

  constructor(output: Output, footer: () => Footer) {
    this.#output = output
    this.#footer = footer
    output.on('resize', this.#redraw)
  }

  /** Columns of a line; infinite if the terminal does not report its width. */
  get columns(): number {
    return this.#output.columns || Number.POSITIVE_INFINITY
  }

  /** Columns of a footer line: the last column stays free. */
  get footerColumns(): number {
    return (this.#output.columns || 80) - 1
  }

  get rows(): number {
    return this.#output.rows || 24
  }

  append(lines: readonly string[]): void {
    if (!this.#isOpen) {
      for (const line of lines) this.#output.write(`${line}\n`)
      return
    }
    this.#waiting.push(...lines)
    this.refresh()
  }

  /** Schedules a redraw of the footer. */
  refresh(): void {
    if (this.#isOpen) this.#timer ??= setTimeout(() => this.flush(), gatheringMs)
  }

  /** Draws pending lines. `anyway`: even if nothing has changed. */
  flush(anyway = false): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#isOpen) return
    const footer = this.#footer()
    if (!anyway && this.#waiting.length === 0 && isSame(footer, this.#drawn)) return
    this.#write(footer)
  }

  /** Removes the footer until the next `flush`. */
  clear(): void {
    this.#write({ lines: [], cursor: 0 })
  }

  /** Lets other code write whole lines, below pending lines and above the footer. */
  aside(write: () => void): void {
    if (this.#isOpen) this.clear()
    write()
    this.flush(true)
  }

  /** Draws pending lines and removes the footer. */
  close(): void {
    if (!this.#isOpen) return
    clearTimeout(this.#timer)
    this.#output.off('resize', this.#redraw)
    this.clear()
    this.#isOpen = false
  }

  #write(footer: Footer): void {
    const { lines, cursor } = footer
    const appended = this.#waiting.map((line) => `${line}\n`).join('')
    const placed = lines.length === 0 ? '' : `\r${cursor > 0 ? `\u001B[${cursor}C` : ''}`
    this.#output.write(
      `${begin}${this.#erasing()}${appended}${clip}${lines.join('\n')}${clearBelow}${placed}${unclip}${end}`,
    )
    this.#waiting = []
    this.#drawn = footer
  }

  /** Erases the footer from the cursor up. A terminal that became narrower has wrapped its lines. */
  #erasing(): string {
    const { lines, cursor } = this.#drawn
    if (lines.length === 0) return '\r'
    const above = lines.slice(0, -1).reduce((sum, line) => sum + this.#countRows(measureWidth(line)), 0)
    const rows = above + this.#countRows(cursor + 1) - 1
    return `\r${clearLine}${`${up}${clearLine}`.repeat(rows)}`
  }

  #countRows(width: number): number {
    return this.columns === Number.POSITIVE_INFINITY ? 1 : Math.max(1, Math.ceil(width / this.columns))
  }
}

const isSame = (one: Footer, other: Footer): boolean =>
  one.cursor === other.cursor && one.lines.join('\n') === other.lines.join('\n')
