import type { Interface } from 'node:readline'
import { printable } from '@meup/folds'
import { exitCodes } from '../failure/exit-codes.js'
import { print, printNotice } from '../lib/output.js'
import { measureWidth, wrapLine } from '../render/width.js'
import { type FooterParts, renderFooter } from './footer.js'
import type { InputHistory } from './input-history.js'
import { type Completer, Keyboard, pasteOff, pasteOn } from './keyboard.js'
import { Terminal } from './terminal.js'

/** The output and the input line of a view. */
export interface Surface {
  print(lines: readonly string[]): void
  /** Prints a notice, escaped, because it may quote participants. */
  notify(line: string): void
  /** Schedules a redraw of the footer. */
  refresh(): void
  /**
   * Asks the user to choose; resolves to the index, or `undefined` if none is chosen, `signal` is aborted, or there is no
   * terminal.
   */
  choose(question: string, choices: readonly string[], signal?: AbortSignal): Promise<number | undefined>
  /**
   * Asks the user for a line; `undefined` on Esc or without a terminal. An aborted `signal` withdraws the question. Pass one if
   * the user did not cause the question: then a command, or a line begun before the question, does not cancel it.
   */
  prompt(question: string, signal?: AbortSignal): Promise<string | undefined>
  /**
   * Offers a typed line to the open `prompt`; returns `true` if it is the answer. Any other line cancels a prompt without a
   * signal.
   */
  take(line: string): boolean
  /** Replaces the input line, for further editing. */
  edit(line: string): void
  /** The full text of a typed line, with pastes expanded. */
  read(line: string): string
  /** Copies a text to the clipboard, if the terminal supports that. */
  copy(text: string): void
  /** Time at which the current line was begun, in ms since the epoch. */
  readonly typedSince: number | undefined
  /** Width of the terminal; infinite if lines must not be wrapped. */
  readonly columns: number
  /** The readline interface with typed lines, if the terminal is in raw mode. */
  readonly lines: Interface | undefined
  close(): void
}

/** Prints plain lines: for pipes and screen readers. */
export const plainSurface: Surface = {
  print: (lines) => lines.forEach(print),
  notify: printNotice,
  refresh: () => {},
  choose: async (question, choices) => {
    printNotice(question)
    choices.forEach((choice, at) => void printNotice(`${at + 1}  ${choice}`))
    return undefined
  },
  prompt: async () => undefined,
  take: () => false,
  edit: () => {},
  read: (line) => line,
  copy: () => {},
  typedSince: undefined,
  columns: Number.POSITIVE_INFINITY,
  lines: undefined,
  close: () => {},
}

interface LiveOptions {
  /** Contents of the footer, other than the input. */
  readonly parts: () => Omit<FooterParts, 'typed' | 'notices'>
  readonly dim: (text: string) => string
  /** Whether there is an input line. */
  readonly echoes: boolean
  readonly completer: Completer | undefined
  /** Key bindings. A binding returns `false` if there was nothing to do. */
  readonly keys: Readonly<Record<string, () => unknown>>
  readonly history?: InputHistory | undefined
}

interface Asked {
  readonly question: string
  answer(line: string | undefined): void
  /** Time at which the question was asked, in ms; absent if a command of the user has caused it. */
  readonly since?: number
}

/** Whether the typed line was begun before the question was asked. */
const isOlder = ({ since }: Asked, typedSince: number | undefined): boolean =>
  since !== undefined && typedSince !== undefined && typedSince < since

/** Milliseconds within which a second Ctrl+C leaves. */
const leaveMs = 2000
/** Redraw interval of the elapsed times in the footer. */
const tickMs = 1000

/** A terminal: permanent lines, above a footer that is redrawn. */
export function liveSurface({ parts, dim, echoes, completer, keys, history }: LiveOptions): Surface {
  let choices: readonly string[] = []
  let asked: Asked | undefined
  let typedSince: number | undefined
  let chosen: ((at: number | undefined) => void) | undefined
  /** A Ctrl+C before this time leaves, in ms since the epoch. */
  let leavesUntil = 0
  const terminal: Terminal = new Terminal(process.stdout, () => {
    const { candidates, text, before } = keyboard
    const offered = candidates.length === 0 ? [] : [candidates.join('  ')]
    const question = asked === undefined ? [] : [asked.question]
    const searched = keyboard.search === undefined ? [] : [keyboard.search]
    const leaving = leavesUntil > Date.now() ? ['Ctrl+C again leaves'] : []
    return renderFooter(
      {
        ...parts(),
        notices: choices.length > 0 ? choices : [...question, ...searched, ...offered, ...leaving],
        ...(echoes && { typed: { text, before } }),
      },
      { columns: terminal.footerColumns, rows: terminal.rows, now: Date.now(), dim },
    )
  })
  const keyboard: Keyboard = new Keyboard(process.stdin, {
    ...(completer && { completer }),
    ...(history && { history: history.lines, kept: (text: string) => history.add(text) }),
    isKept: (line) => asked === undefined && !/^(?:y|n|yes)$/.test(line.trim()),
    changed() {
      typedSince = keyboard.text === '' ? undefined : (typedSince ?? Date.now())
      if (keyboard.text !== '') leavesUntil = 0
      terminal.flush()
    },
    suspending(isStopped) {
      if (isStopped) terminal.clear()
      process.stdout.write(isStopped ? pasteOff : pasteOn)
      if (!isStopped) terminal.flush(true)
    },
  })
  for (const [key, pressed] of Object.entries(keys)) keyboard.on(key, () => void pressed())
  keyboard.on('escape', () => {
    if (asked === undefined) keys.escape?.()
    else answer(undefined)
  })
  const timer = setInterval(() => terminal.refresh(), tickMs).unref()
  const removeStderrGuard = stderrGuard((write) => terminal.aside(write))
  const close = (): void => {
    clearInterval(timer)
    removeStderrGuard()
    process.off('exit', close)
    answer(undefined)
    chosen?.(undefined)
    keyboard.lines.close()
    terminal.close()
    process.stdout.write(pasteOff)
  }
  process.once('exit', close)
  keyboard.lines.on('close', () => {
    answer(undefined)
    chosen?.(undefined)
  })
  keyboard.on('ctrl+c', interrupt)
  process.stdout.write(pasteOn)
  terminal.flush(true)

  /**
   * Wraps a line between words. A line with a word that does not fit, such as an address, is left to the terminal, so that it
   * can be copied.
   */
  function wrap(line: string): string[] {
    const { columns } = terminal
    const [indent = ''] = /^ */.exec(line) ?? []
    const isBreakable = line.split(' ').every((word) => measureWidth(word) <= columns - indent.length - 2)
    return isBreakable ? wrapLine(line, columns, indent.length + 2) : [line]
  }

  function answer(line: string | undefined): void {
    asked?.answer(line)
    asked = undefined
    terminal.refresh()
  }

  /**
   * Ctrl+C cancels the first of these: a search, a choice, the input line, a question, the runs that answer the user. If there
   * is nothing to cancel, a second Ctrl+C leaves.
   */
  function interrupt(): void {
    const now = Date.now()
    const isDone =
      keyboard.endSearch() ||
      endChoice(undefined) ||
      clearLine() ||
      endQuestion() ||
      keys['ctrl+c']?.() !== false
    if (isDone && keys['ctrl+c'] !== undefined) leavesUntil = 0
    else if (keys['ctrl+c'] === undefined || leavesUntil > now) process.exit(exitCodes.interrupted)
    else leavesUntil = now + leaveMs
  }

  function clearLine(): boolean {
    if (keyboard.text === '') return false
    keyboard.edit('')
    return true
  }

  function endQuestion(): boolean {
    if (asked === undefined) return false
    answer(undefined)
    return true
  }

  function endChoice(at: number | undefined): boolean {
    if (choices.length === 0) return false
    choices = []
    keyboard.capture()
    chosen?.(at)
    chosen = undefined
    return true
  }

  function choose(
    question: string,
    named: readonly string[],
    signal?: AbortSignal,
  ): Promise<number | undefined> {
    const keysText = named.length === 1 ? '1 or y' : `1 ${named.length === 2 ? 'or' : 'to'} ${named.length}`
    const list = named.map((name, at) => `${at + 1}  ${name}`)
    choices = [`${question} Esc: none`, ...list]
    terminal.refresh()
    return new Promise((resolve) => {
      chosen = resolve
      signal?.addEventListener('abort', () => {
        if (chosen === resolve && endChoice(undefined)) terminal.refresh()
      })
      keyboard.capture((key, text) => {
        const at = named.length === 1 && key === 'y' ? 0 : Number(key) - 1
        if (key === 'escape' || (named.length === 1 && key === 'n')) endChoice(undefined)
        else if (named[at] !== undefined) endChoice(at)
        else if (key === 'paste' || /^[^\p{Cc}\d]/u.test(text)) {
          // The user begins to type a message: ends the choice, and leaves the key to the input line.
          endChoice(undefined)
          return false
        } else choices = [`${question} Esc: none · press ${keysText}`, ...list]
        return true
      })
    })
  }

  return {
    print: (lines) => terminal.append(lines.flatMap(wrap)),
    notify: (line) => terminal.append(printable(line).split('\n').flatMap(wrap)),
    refresh: () => terminal.refresh(),
    choose,
    prompt: (question, signal) =>
      new Promise((resolve) => {
        answer(undefined)
        const own: Asked = { question, answer: resolve, ...(signal && { since: Date.now() }) }
        asked = own
        signal?.addEventListener('abort', () => {
          if (asked === own) answer(undefined)
        })
        terminal.refresh()
      }),
    take(line) {
      // Commands do not answer a prompt.
      const isAnswer = asked !== undefined && !/^\/[a-z]+(\s|$)/.test(line) && !isOlder(asked, typedSince)
      if (isAnswer || asked?.since === undefined) answer(isAnswer ? line : undefined)
      return isAnswer
    },
    edit: (line) => keyboard.edit(line),
    read: (line) => keyboard.read(line),
    // OSC 52 sets the clipboard; it prints nothing, so the footer is unaffected.
    copy: (text) => void process.stdout.write(`\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`),
    get typedSince() {
      return typedSince
    },
    get columns() {
      return terminal.columns
    },
    lines: keyboard.lines,
    close,
  }
}

/**
 * Intercepts writes to stderr by Node and libraries, which would garble the footer: `aside` removes the footer, writes, and
 * redraws it. Returns a function that removes the interception.
 */
function stderrGuard(aside: (write: () => void) => void): () => void {
  const { stderr } = process
  const write = stderr.write
  // Node prints warnings without using `stderr.write`, so their listeners are wrapped too.
  const warningListeners = process.listeners('warning')
  const warn = (warning: Error): void =>
    aside(() => warningListeners.forEach((listener) => void listener(warning)))
  stderr.write = (...said: unknown[]): boolean => {
    let isTaken = true
    aside(() => {
      isTaken = Reflect.apply(write, stderr, said)
    })
    return isTaken
  }
  process.removeAllListeners('warning').on('warning', warn)
  return () => {
    stderr.write = write
    process.off('warning', warn)
    for (const listener of warningListeners) process.on('warning', listener)
  }
}
