import { createInterface, emitKeypressEvents, type Interface, type Key } from 'node:readline'
import { PassThrough, Writable } from 'node:stream'
import type { ReadStream } from 'node:tty'
import { lineEnd, Pastes } from './pastes.js'

/** Completes a line: returns the candidates, and the part of the line that they replace. */
export type Completer = (line: string) => [candidates: string[], part: string]

interface KeyboardOptions {
  readonly completer?: Completer
  /** Lines of earlier sessions, newest first. */
  readonly history?: readonly string[]
  /** Returns `false` for a line that must not enter the history, such as an answer to a question. */
  isKept?(line: string): boolean
  /** Called with each line that enters the history. */
  kept?(text: string): void
  /** Called when the input line or its completions have changed. */
  changed(): void
  /** Called before Ctrl+Z stops the process, and after it continues. */
  suspending?(isStopped: boolean): void
}

/** Receives keys and pasted texts instead of the input line; returns `false` for what is meant for the line. */
type KeyCapture = (key: string, text: string) => boolean

/** Milliseconds after which Esc counts as a key, not as the start of an escape sequence. */
const escapeMs = 50
/** Milliseconds without input after which a paste has ended that the terminal did not mark as one. */
const burstMs = 150
/** Number of line ends in one read from which on input counts as pasted. */
const burstLines = 3
/** Maximum lines of the history in memory. */
const maxHistory = 1000

/** The input line of a terminal. Readline edits it but does not draw it. */
export class Keyboard {
  readonly lines: Interface
  /** Candidates offered by Tab, until the next key. */
  candidates: readonly string[] = []
  readonly #input: ReadStream
  readonly #options: KeyboardOptions
  readonly #keys = new Map<string, () => void>()
  readonly #pastes = new Pastes()
  #history: readonly string[]
  #captor: KeyCapture | undefined
  /** Whether nothing was read yet. */
  #isFresh = true
  /** The text pasted so far; `undefined` if no paste is in progress. */
  #paste: string | undefined
  /** Timer that ends a paste which the terminal did not mark as one. */
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
    // This interface only sets the timeout of Esc. With `this.lines` in its place, keys that arrive together would be appended
    // at the end of the line, regardless of the cursor.
    const timing = createInterface({ input: new PassThrough(), escapeCodeTimeout: escapeMs })
    input.on('data', look) // Registered first, to see data before its keys are parsed.
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

  /** Status of a history search; `undefined` if there is none. */
  get search(): string | undefined {
    return this.#search && `history: ${this.#search.text}_ · Ctrl+R older · Enter takes it · Esc: back`
  }

  /** The full text of a typed line, with pastes expanded. */
  read(line: string): string {
    return this.#pastes.decode(line)
  }

  /** Replaces the input line. */
  edit(text: string): void {
    this.#replace(this.#pastes.encode(text))
    this.#options.changed()
  }

  /** Binds a key, such as `ctrl+t` or `escape`. */
  on(key: string, pressed: () => void): void {
    this.#keys.set(key, pressed)
  }

  /** Redirects all keys except Ctrl+C to `keyCapture`; without `keyCapture`, ends the redirection. */
  capture(keyCapture?: KeyCapture): void {
    this.#captor = keyCapture
  }

  /** Ends a history search and restores the line; returns `false` if there was none. */
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
    if (name !== 'ctrl+c' && this.#captor?.(name, text ?? '') === true) {
      // `#captor` has handled the key.
    } else if (this.#search !== undefined && name !== 'ctrl+c') this.#onSearchKey(name, text)
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

  /** Replaces the input line by the newest history line that contains the searched text, from index `first` on. */
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

  /**
   * Enters lines that were typed before this interface existed: until raw mode, Enter yields a line feed, never a carriage
   * return. Many lines are treated as a paste.
   */
  #onFirstData(chunk: Buffer): void {
    if (chunk.includes(0x0d) || countLineEnds(chunk) >= burstLines) return
    for (const [at, byte] of chunk.entries()) if (byte === 0x0a) chunk[at] = 0x0d
  }

  /** Detects a paste that the terminal does not mark: many line ends in one read, and everything that follows immediately. */
  #onData(chunk: Buffer): void {
    if (this.#isFresh) this.#onFirstData(chunk)
    this.#isFresh = false
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

  /** Collects pasted text, so that its characters do not act as keys and are drawn only once. */
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
    if (this.#captor?.('paste', text) !== true) this.lines.write(this.#pastes.add(text))
    this.#options.changed()
  }

  #complete(completed: [string[], string]): [string[], string] {
    const [candidates] = completed
    this.candidates = candidates.length > 1 ? candidates : []
    return completed
  }

  /** Leaves raw mode while the process is stopped by Ctrl+Z. */
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

/** Enables and disables bracketed paste: the terminal marks the start and end of pasted text. */
export const [pasteOn, pasteOff] = ['\u001B[?2004h', '\u001B[?2004l']
/** Common prefix of the marks of bracketed paste. */
const pasteMark = '\u001B[20'

const countLineEnds = (chunk: Buffer): number => {
  let count = 0
  for (const [at, byte] of chunk.entries()) {
    const isEnd = byte === 0x0d || (byte === 0x0a && chunk[at - 1] !== 0x0d)
    if (isEnd) count++
  }
  return count
}
