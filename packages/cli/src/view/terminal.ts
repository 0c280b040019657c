import type { WriteStream } from 'node:tty'
import { measureWidth } from '../render/width.js'

/** The redrawn lines at the bottom of the terminal. */
export interface Footer {
  /** Lines that each fit on one row. */
  readonly lines: readonly string[]
  /** Column of the cursor; `below`: number of lines below it. */
  readonly cursor: number
  readonly below: number
}

/** The part of a stream that `Terminal` uses. */
export type TerminalOutput = Pick<WriteStream, 'write' | 'on' | 'off'> & {
  readonly columns?: number
  readonly rows?: number
}

/** Milliseconds for which output is buffered, to be drawn at once. */
const gatheringMs = 25

/** Synchronized output (DEC 2026) avoids flicker; terminals without it ignore the sequences. */
const [begin, end] = ['\u001B[?2026h', '\u001B[?2026l']
/** Disables wrapping while the footer is drawn, since terminals differ in the width of characters. */
const [clip, unclip] = ['\u001B[?7l', '\u001B[?7h']
/** Clears line by line: when cleared from the top, tmux keeps the old screen in its scrollback. */
const [clearLine, up, clearBelow] = ['\u001B[2K', '\u001B[A', '\u001B[J']

const nothing: Footer = { lines: [], cursor: 0, below: 0 }

/** Appends permanent lines above a footer that is redrawn. */
export class Terminal {
  readonly #output: TerminalOutput
  readonly #footer: () => Footer
  #waiting: string[] = []
  #drawn: Footer = nothing
  #timer: NodeJS.Timeout | undefined
  #isOpen = true
  readonly #redraw = (): void => this.flush(true)

  constructor(output: TerminalOutput, footer: () => Footer) {
    this.#output = output
    this.#footer = footer
    output.on('resize', this.#redraw)
  }

  /** Width of the terminal; infinite if it does not report one. */
  get columns(): number {
    return this.#output.columns || Number.POSITIVE_INFINITY
  }

  /** Width of a footer line: the last column stays free. */
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

  /** Draws buffered lines and the footer. `anyway`: even if nothing has changed. */
  flush(anyway = false): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#isOpen) return
    const footer = this.#footer()
    if (!anyway && this.#waiting.length === 0 && isSame(footer, this.#drawn)) return
    this.#write(footer)
  }

  /** Removes the footer until the next `flush`; draws buffered lines. */
  clear(): void {
    this.#write(nothing)
  }

  /** Lets other code write whole lines, after buffered lines and above the footer. */
  aside(write: () => void): void {
    if (this.#isOpen) this.clear()
    write()
    this.flush(true)
  }

  /** Draws buffered lines and removes the footer for good. */
  close(): void {
    if (!this.#isOpen) return
    clearTimeout(this.#timer)
    this.#output.off('resize', this.#redraw)
    this.clear()
    this.#isOpen = false
  }

  #write(footer: Footer): void {
    const { lines, cursor, below } = footer
    const appended = this.#waiting.map((line) => `${line}\n`).join('')
    const right = cursor > 0 ? `\u001B[${cursor}C` : ''
    const placed = lines.length === 0 ? '' : `\r${up.repeat(below)}${right}`
    this.#output.write(
      `${begin}${this.#erasing()}${appended}${clip}${lines.join('\n')}${clearBelow}${placed}${unclip}${end}`,
    )
    this.#waiting = []
    this.#drawn = footer
  }

  /**
   * Escape sequences that erase the footer, from its last line up. If the terminal was narrowed, its lines take several rows.
   */
  #erasing(): string {
    const { lines, cursor, below } = this.#drawn
    if (lines.length === 0) return '\r'
    const at = lines.length - 1 - below
    const count = (some: readonly string[]): number =>
      some.reduce((sum, line) => sum + this.#countRows(measureWidth(line)), 0)
    const above = count(lines.slice(0, at)) + this.#countRows(cursor + 1) - 1
    const under = below === 0 ? 0 : count(lines.slice(at)) - this.#countRows(cursor + 1)
    return `\r${under > 0 ? `\u001B[${under}B` : ''}${clearLine}${`${up}${clearLine}`.repeat(above + under)}`
  }

  #countRows(width: number): number {
    return this.columns === Number.POSITIVE_INFINITY ? 1 : Math.max(1, Math.ceil(width / this.columns))
  }
}

const isSame = (one: Footer, other: Footer): boolean =>
  one.cursor === other.cursor && one.below === other.below && one.lines.join('\n') === other.lines.join('\n')
