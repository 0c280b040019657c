import { createInterface, emitKeypressEvents, type Interface, type Key } from 'node:readline'
import { PassThrough, Writable } from 'node:stream'
import type { ReadStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'

/** Completes a line for Tab: the candidates, and the part that they replace. */
export type Completer = (line: string) => [candidates: string[], part: string]

interface KeyboardOptions {
  readonly completer?: Completer
  /** The input line or its completions have changed. */
  changed(): void
  /** Ctrl+Z is about to stop the program, or it continues. */
  suspending?(isStopped: boolean): void
}

/** Milliseconds after which Esc counts as a key of its own. */
const escapeMs = 50

/** The input line of a terminal, edited by readline, which draws nothing itself. */
export class Keyboard {
  readonly lines: Interface
  /** The candidates of Tab, until the next key. */
  candidates: readonly string[] = []
  readonly #input: ReadStream
  readonly #options: KeyboardOptions
  readonly #keys = new Map<string, () => void>()
  #captor: ((key: string) => void) | undefined
  /** The text pasted so far; `undefined` = not pasting. */
  #paste: string | undefined

  constructor(input: ReadStream, options: KeyboardOptions) {
    this.#input = input
    this.#options = options
    const { completer } = options
    this.lines = createInterface({
      input: new PassThrough(),
      output: new Writable({ write: (_chunk, _encoding, done) => done() }),
      terminal: true,
      prompt: '',
      ...(completer && { completer: (line: string) => this.#complete(completer(line)) }),
    })
    const press = (text: string | undefined, key: Key): void => this.#press(text, key)
    const end = (): void => this.lines.close()
    // Not `this.lines`: it would append keys that arrive together to the end, regardless of the cursor.
    const timing = createInterface({ input: new PassThrough(), escapeCodeTimeout: escapeMs })
    emitKeypressEvents(input, timing)
    input.on('keypress', press).on('end', end)
    input.setRawMode(true)
    input.resume()
    this.lines.once('close', () => {
      timing.close()
      input.off('keypress', press).off('end', end)
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

  /** Calls back whenever this key is pressed: `ctrl+t`, `escape`. */
  on(key: string, pressed: () => void): void {
    this.#keys.set(key, pressed)
  }

  /** Sends every key except Ctrl+C to `keyCapture`, until called without one. */
  capture(keyCapture?: (key: string) => void): void {
    this.#captor = keyCapture
  }

  #press(text: string | undefined, key: Key): void {
    this.candidates = []
    const name = `${key.ctrl ? 'ctrl+' : ''}${key.name ?? text ?? ''}`
    if (this.#isPasted(name, key.sequence ?? text ?? '')) return
    const own = this.#keys.get(name)
    if (this.#captor !== undefined && name !== 'ctrl+c') this.#captor(name)
    else if (own !== undefined) own()
    else if (name === 'ctrl+z') this.#suspend()
    else if (name !== 'escape') this.lines.write(text ?? '', key)
    this.#options.changed()
  }

  /** Collects pasted text, whose keys must not act, and draws it at once. */
  #isPasted(name: string, sequence: string): boolean {
    if (name === 'paste-start') this.#paste = ''
    else if (this.#paste === undefined || name === 'ctrl+c') {
      this.#paste = undefined
      return false
    } else if (name === 'paste-end') {
      if (this.#captor === undefined) this.lines.write(encodePaste(this.#paste))
      this.#paste = undefined
      this.#options.changed()
    } else this.#paste += sequence
    return true
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

/** Represents a line end within the edited line; a Unicode noncharacter, reserved for internal use. */
const lineEnd = '\uFDD0'
const controls = /[^\P{Cc}\t]/gu

/** Encodes pasted text as part of one edited line. */
const encodePaste = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/\r\n?|\n|\u2028|\u2029/g, lineEnd)
    .replace(controls, '')

/** The edited line for display: same length, on one row. */
export const toOneRow = (line: string): string => line.replaceAll(lineEnd, '↵').replaceAll('\t', ' ')

/** The edited line for sending: with pasted line ends, without trailing ones. */
export const decodeLineEnds = (line: string): string => line.replaceAll(lineEnd, '\n').replace(/\n+$/, '')
