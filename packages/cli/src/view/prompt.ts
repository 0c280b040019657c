import { readFileSync } from 'node:fs'
import {
  type Completer,
  clearScreenDown,
  createInterface,
  cursorTo,
  type Interface,
  moveCursor,
} from 'node:readline'

const { stdin, stdout, env } = process

/** Whether somebody sits in front of this command, and it may take each key as it is pressed. */
export const isAtTerminal = (): boolean =>
  stdin.isTTY === true && stdout.isTTY === true && env.TERM !== 'dumb' && isInForeground()

export interface PromptOptions {
  /** What is typed is shown. */
  readonly echoes: boolean
  /** What Tab makes of what is typed. */
  readonly completer?: Completer
}

/** A terminal on which lines come while another one is being typed. */
export class Prompt {
  /** What is typed. */
  readonly lines: Interface
  #isClosed = false

  constructor({ echoes, completer }: PromptOptions) {
    this.lines = createInterface({
      input: stdin,
      ...(echoes && { output: stdout }),
      ...(completer && { completer }),
      terminal: true,
      prompt: '',
    })
    this.lines.once('close', () => {
      this.#isClosed = true
    })
  }

  get rows(): number {
    return stdout.rows || 24
  }

  /** Calls back whenever this key is pressed together with Ctrl. */
  onCtrl(key: string, pressed: () => void): void {
    const look = (_: string | undefined, { ctrl, name }: { ctrl?: boolean; name?: string }): void => {
      if (ctrl === true && name === key) pressed()
    }
    stdin.on('keypress', look)
    this.lines.once('close', () => stdin.off('keypress', look))
  }

  /** Writes above what is being typed. */
  above(write: () => void): void {
    if (this.#isClosed) {
      write()
      return
    }
    cursorTo(stdout, 0)
    moveCursor(stdout, 0, -this.lines.getCursorPos().rows)
    clearScreenDown(stdout)
    write()
    this.lines.prompt(true)
  }

  clear(): void {
    cursorTo(stdout, 0, 0)
    clearScreenDown(stdout)
  }
}

/** A command behind `&` would be stopped as soon as it touched the terminal. Where nobody can say, it is in front. */
function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return group === foreground
  } catch {
    return true
  }
}
