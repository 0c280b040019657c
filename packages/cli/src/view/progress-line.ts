import { brief, formatDuration, onOneLine, type TurnEvent } from '@meup/folds'
import { truncate } from '../render/width.js'
import type { TerminalOutput } from './terminal.js'

const clearLine = '\r\u001B[2K'
/** Redraw interval. */
const tickMs = 1000
const maxThoughtChars = 200

/** A status line at the bottom of the terminal: which agent works on the question, and what it does. Redrawn until closed. */
export class ProgressLine {
  readonly #output: TerminalOutput
  readonly #began = Date.now()
  readonly #timer = setInterval(() => this.#draw(), tickMs).unref()
  #text = ''
  #what = 'no answer yet'
  #isDrawn = false

  constructor(output: TerminalOutput) {
    this.#output = output
  }

  onEvent(event: TurnEvent): void {
    const agent = onOneLine(event.agent)
    switch (event.type) {
      case 'begun':
      case 'thought':
        this.#what = `${agent} ○ Thinking...`
        if (event.text !== '') this.#text = brief(event.text, maxThoughtChars)
        break
      case 'call':
        this.#what = `${agent} ○ ${onOneLine(event.call.toolName)}`
        this.#text = brief(event.call.rationale ?? '', maxThoughtChars)
        break
      case 'proposal':
        this.#what = `${agent} ⚠ waits for a decision`
        this.#text = `${onOneLine(event.call.toolName)}: meup proposals ls`
        break
      case 'result':
      case 'decision':
        this.#what = `${agent} ○ Thinking...`
        this.#text = ''
        break
    }
    if (this.#isDrawn) this.#draw()
  }

  /** Clears the line for other output; the next tick draws it again. */
  clear(): void {
    if (this.#isDrawn) this.#output.write(clearLine)
    this.#isDrawn = false
  }

  close(): void {
    clearInterval(this.#timer)
    this.clear()
  }

  #draw(): void {
    const elapsed = formatDuration(tickMs * Math.floor((Date.now() - this.#began) / tickMs))
    const line = `${this.#what} ${elapsed} · ${this.#text || 'Ctrl+C stops it'}`
    this.#output.write(`${clearLine}${truncate(line, (this.#output.columns || 80) - 1)}`)
    this.#isDrawn = true
  }
}
