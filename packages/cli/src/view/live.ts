import { printable } from '@meup/folds'
import { exitCodes } from '../exit.js'
import { besideWarnings } from './beside.js'
import { type FooterParts, footerOf } from './footer.js'
import { type Completing, Keyboard } from './keyboard.js'
import { pasteOff, pasteOn } from './pasting.js'
import type { Surface } from './surface.js'
import { Terminal } from './terminal.js'

export interface LiveOptions {
  /** What the footer tells, but for what is typed. */
  readonly parts: () => Omit<FooterParts, 'typed' | 'notices'>
  readonly dim: (text: string) => string
  /** Whether one may type. */
  readonly echoes: boolean
  readonly completer: Completing | undefined
  readonly keys: Readonly<Record<string, () => void>>
}

/** Milliseconds after which the times in the footer are others. */
const tickMs = 1000

/** A terminal: lines that stay, above a footer that lives. */
export function liveSurface({ parts, dim, echoes, completer, keys }: LiveOptions): Surface {
  let choices: readonly string[] = []
  const terminal: Terminal = new Terminal(process.stdout, () => {
    const { candidates, text, before } = keyboard
    const offered = candidates.length === 0 ? [] : [candidates.join('  ')]
    return footerOf(
      {
        ...parts(),
        notices: choices.length > 0 ? choices : offered,
        ...(echoes && { typed: { text, before } }),
      },
      { columns: terminal.footerColumns, rows: terminal.rows, now: Date.now(), dim },
    )
  })
  const keyboard: Keyboard = new Keyboard(process.stdin, {
    ...(completer && { completer }),
    changed: () => terminal.flush(),
    suspending(isStopped) {
      if (isStopped) terminal.clear()
      process.stdout.write(isStopped ? pasteOff : pasteOn)
      if (!isStopped) terminal.flush(true)
    },
  })
  for (const [key, pressed] of Object.entries(keys)) keyboard.on(key, pressed)
  const timer = setInterval(() => terminal.refresh(), tickMs).unref()
  const endBeside = besideWarnings((write) => terminal.aside(write))
  const close = (): void => {
    clearInterval(timer)
    endBeside()
    process.off('exit', close)
    keyboard.lines.close()
    terminal.close()
    process.stdout.write(pasteOff)
  }
  process.once('exit', close)
  keyboard.lines.on('SIGINT', () => process.exit(exitCodes.interrupted))
  process.stdout.write(pasteOn)
  terminal.flush(true)

  function choose(question: string, named: readonly string[]): Promise<number | undefined> {
    choices = [`${question} Esc: none`, ...named.map((name, at) => `${at + 1}  ${name}`)]
    terminal.refresh()
    return new Promise((resolve) => {
      keyboard.capture((key) => {
        const at = Number(key) - 1
        if (key !== 'escape' && named[at] === undefined) return
        choices = []
        keyboard.capture()
        resolve(named[at] === undefined ? undefined : at)
      })
    })
  }

  return {
    print: (lines) => terminal.append(lines),
    say: (line) => terminal.append(printable(line).split('\n')),
    refresh: () => terminal.refresh(),
    choose,
    get columns() {
      return terminal.columns
    },
    lines: keyboard.lines,
    close,
  }
}
