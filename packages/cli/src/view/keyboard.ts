import { createInterface, emitKeypressEvents, type Interface, type Key } from 'node:readline'
import { PassThrough, Writable } from 'node:stream'
import type { ReadStream } from 'node:tty'
import { lineEnd, Pastes } from './pastes.js'

/** Completes a line for Tab: the candidates, and the part that they replace. */
export type Completer = (line: string) => [candidates: string[], part: string]

interface KeyboardOptions {
  readonly completer?: Completer
  /** Lines of earlier conversations, the newest first. */
  readonly history?: readonly string[]
  /** Returns `false` for a line that is not to be kept, such as an answer to a question. */
  isKept?(line: string): boolean
  /** Adds a sent line to the history. */
  kept?(text: string): void
  /** The input line or its completions have changed. */
  changed(): void
  /** Ctrl+Z is about to stop the program, or it continues. */
  suspending?(isStopped: boolean): void
}

/** Milliseconds after which Esc counts as a key of its own. */
const escapeMs = 50
/** Milliseconds without further input after which a paste is over that the terminal has not marked. */
const burstMs = 150
/** Line ends in one read from which on the input counts as a paste. */
const burstLines = 3
/** Lines of the history that are kept in memory. */
const maxHistory = 1000

/** The input line of a terminal, edited by readline, which draws nothing itself. */
export class Keyboard {
  readonly lines: Interface
  /** The candidates of Tab, until the next key. */
  candidates: readonly string[] = []
  readonly #input: ReadStream
  readonly #options: KeyboardOptions
  readonly #keys = new Map<string, () => void>()
  readonly #pastes = new Pastes()
  #history: readonly string[]
  #captor: ((key: string) => void) | undefined
  /** The text pasted so far; `undefined` = not pasting. */
  #paste: string | undefined
  /** Runs during a paste that the terminal does not mark. */
  #burst: NodeJS.Timeout | undefined
  #search: { text: string; at: number; readonly before: string } | undefined

  constructor(input: ReadStream, options: KeyboardOptions) {
    this.#input = input
    this.#options = options
    const { completer, history = [] } = options
    this.#history = history.map((text) => this.#pastes.encode(text))
    this.lines = createInterface({
      input: new PassThrough(),
      output: new Writable({ write: (_chunk, _encoding, done) => done() }),
      terminal: true,
      prompt: '',
      history: [...this.#history],
      historySize: maxHistory,
      removeHistoryDuplicates: true,
      ...(completer && { completer: (line: string) => this.#complete(completer(line)) }),
    })
    this.lines.on('history', (lines: string[]) => this.#onHistory(lines))
    const press = (text: string | undefined, key: Key): void => this.#press(text, key)
    const look = (chunk: Buffer): void => this.#onData(chunk)
    const end = (): void => this.lines.close()
    // Not `this.lines`: it would append keys that arrive together to the end, regardless of the cursor.
    const timing = createInterface({ input: new PassThrough(), escapeCodeTimeout: escapeMs })
    input.on('data', look) // Before its keys are read.
    emitKeypressEvents(input, timing)
    input.on('keypress', press).on('end', end)
    input.setRawMode(true)
    input.resume()
    this.lines.once('close', () => {
      timing.close()
      clearTimeout(this.#burst)
      input.off('data', look).off('keypress', press).off('end', end)
      input.setRawMode(false)
      input.pause()
    })
  }

  get text(): string {
    return this.lines.line
  }

  /** The text before the cursor. */
  get before(): string {
    return this.lines.line.slice(0, this.lines.cursor)
  }

  /** The line that shows a search in the history; `undefined` = there is none. */
  get search(): string | undefined {
    return this.#search && `history: ${this.#search.text}_ · Ctrl+R older · Enter takes it · Esc: back`
  }

  /** The text of a typed line, with its pastes. */
  read(line: string): string {
    return this.#pastes.decode(line)
  }

  /** Replaces the input line. */
  edit(text: string): void {
    this.#replace(this.#pastes.encode(text))
    this.#options.changed()
  }

  /** Calls back whenever this key is pressed: `ctrl+t`, `escape`. */
  on(key: string, pressed: () => void): void {
    this.#keys.set(key, pressed)
  }

  /** Sends every key except Ctrl+C to `keyCapture`, until called without one. */
  capture(keyCapture?: (key: string) => void): void {
    this.#captor = keyCapture
  }

  /** Ends a search in the history; `false` = there was none. */
  endSearch(): boolean {
    const isSearching = this.#search !== undefined
    if (this.#search !== undefined) this.#replace(this.#search.before)
    this.#search = undefined
    return isSearching
  }

  #press(text: string | undefined, key: Key): void {
    this.candidates = []
    const name = `${key.ctrl ? 'ctrl+' : ''}${key.meta && key.name === 'return' ? 'alt+' : ''}${key.name ?? text ?? ''}`
    if (this.#isPasted(name, key.sequence ?? text ?? '')) return
    const own = this.#keys.get(name)
    if (this.#captor !== undefined && name !== 'ctrl+c') this.#captor(name)
    else if (this.#search !== undefined && name !== 'ctrl+c') this.#onSearchKey(name, text)
    else if (own !== undefined) own()
    else if (name === 'ctrl+z') this.#suspend()
    else if (name === 'ctrl+r') this.#search = { text: '', at: -1, before: this.text }
    else if (name === 'alt+return' || name === 'enter') this.lines.write(lineEnd)
    else if (name === 'return' && this.before.endsWith('\\')) {
      this.lines.write('', { name: 'backspace' })
      this.lines.write(lineEnd)
    } else if (name !== 'escape') this.lines.write(text ?? '', key)
    this.#options.changed()
  }

  #onSearchKey(name: string, text: string | undefined): void {
    const search = this.#search
    if (search === undefined) return
    if (name === 'escape') this.endSearch()
    else if (['return', 'tab', 'right', 'left', 'end', 'home'].includes(name)) this.#search = undefined
    else if (name === 'ctrl+r') this.#find(search.at + 1)
    else if (name === 'backspace') {
      search.text = search.text.slice(0, -1)
      this.#find(0)
    } else if (text !== undefined && /^[^\p{Cc}]+$/u.test(text)) {
      search.text += text
      this.#find(0)
    }
  }

  /** Shows the newest line from `first` on that has what is searched for. */
  #find(first: number): void {
    const search = this.#search
    if (search === undefined) return
    const wanted = search.text.toLowerCase()
    const at = this.#history.findIndex((line, index) => index >= first && line.toLowerCase().includes(wanted))
    if (at === -1) return
    search.at = at
    this.#replace(this.#history[at] ?? '')
  }

  #replace(line: string): void {
    this.lines.write('', { ctrl: true, name: 'e' })
    this.lines.write('', { ctrl: true, name: 'u' })
    this.lines.write(line)
  }

  #onHistory(lines: string[]): void {
    const [line = ''] = lines
    if (this.#options.isKept?.(line) === false) lines.shift()
    else this.#options.kept?.(this.read(line))
    this.#history = [...lines]
  }

  /** Many lines in one read, or text that follows them at once, are pasted: typing is slower. */
  #onData(chunk: Buffer): void {
    const isPasting = this.#paste !== undefined
    const isBurst = this.#burst !== undefined || countLineEnds(chunk) >= burstLines
    if (!isBurst || (isPasting && this.#burst === undefined) || chunk.includes(pasteMark)) return
    clearTimeout(this.#burst)
    this.#paste ??= ''
    this.#burst = setTimeout(() => {
      this.#burst = undefined
      this.#endPaste()
    }, burstMs)
  }

  /** Collects pasted text, whose keys must not act, and draws it at once. */
  #isPasted(name: string, sequence: string): boolean {
    if (name === 'paste-start') this.#paste = ''
    else if (this.#paste === undefined || name === 'ctrl+c') {
      this.#paste = undefined
      return false
    } else if (name === 'paste-end') this.#endPaste()
    else this.#paste += sequence
    return true
  }

  #endPaste(): void {
    const text = this.#paste
    this.#paste = undefined
    if (text === undefined) return
    if (this.#captor === undefined) this.lines.write(this.#pastes.add(text))
    this.#options.changed()
  }

  #complete(completed: [string[], string]): [string[], string] {
    const [candidates] = completed
    this.candidates = candidates.length > 1 ? candidates : []
    return completed
  }

  /** Gives the terminal back to the shell while this program is stopped. */
  #suspend(): void {
    if (process.platform === 'win32') return
    this.#options.suspending?.(true)
    this.#input.setRawMode(false)
    process.once('SIGCONT', () => {
      this.#input.setRawMode(true)
      this.#options.suspending?.(false)
    })
    process.kill(process.pid, 'SIGTSTP')
  }
}

/** Bracketed paste: the terminal marks the start and end of pasted text. */
export const [pasteOn, pasteOff] = ['\u001B[?2004h', '\u001B[?2004l']
/** The start of a bracketed-paste mark. */
const pasteMark = '\u001B[20'

const countLineEnds = (chunk: Buffer): number => {
  let count = 0
  for (const [at, byte] of chunk.entries()) {
    const isEnd = byte === 0x0d || (byte === 0x0a && chunk[at - 1] !== 0x0d)
    if (isEnd) count++
  }
  return count
}
