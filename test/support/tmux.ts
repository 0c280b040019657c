import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { needing } from '../verifies.js'
import { environment } from './cli.js'

/** A tmux terminal with a shell. */
export interface Pane {
  /** Presses keys, by their names in tmux: `C-t`, `Escape`, `Enter`, `Tab`. */
  press(...keys: string[]): void
  type(text: string): void
  /** Pastes a text, as bracketed paste if the running program has requested that. */
  paste(text: string): void
  /** Returns the visible screen, without empty lines at its end. */
  screen(): string
  /** Returns the visible screen, with colours as escape sequences. */
  coloured(): string
  /** Returns everything that has scrolled off the screen, and the screen. */
  all(): string
  /**
   * Returns the same as `all`, but with colours as escape sequences, with trailing spaces, and without joining wrapped rows.
   */
  stored(): string
  /** Waits until the text is on the screen. `timeout`: milliseconds. */
  sees(text: string | RegExp, timeout?: number): Promise<void>
  /** Waits until the check of the screen succeeds. */
  shows(check: (screen: string) => void, timeout?: number): Promise<void>
  /** Returns the position of the cursor on the screen, from 0. */
  cursor(): { column: number; row: number }
  resize(columns: number, rows: number): void
  /** Pipes all further output to a command, in place of an earlier one. */
  pipe(command: string): void
  /** Returns the state of the terminal: its title, modes and size. */
  state(): string
}

export interface PaneOptions {
  readonly cwd: string
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
}

/** Milliseconds: maximum wait, long for a busy machine, and interval between checks, each of which starts a process. */
const [patience, interval] = [30_000, 100]

export const inTmux = needing('tmux', () => spawnSync('tmux', ['-V']).status === 0)

/** Runs a command line in its own terminal, until the test is over. */
export function openPane(command: string, { cwd, columns = 80, rows = 24, env = {} }: PaneOptions): Pane {
  const folder = mkdtempSync(join(tmpdir(), 'meup-tmux-'))
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-S', join(folder, 'socket'), ...args], {
      encoding: 'utf8',
      cwd,
      env: environment({ LC_ALL: 'C.UTF-8', TERM: 'xterm-256color', ...env }),
    })
  const size = ['-x', `${columns}`, '-y', `${rows}`]
  tmux('-f', '/dev/null', 'new-session', '-d', ...size, `trap : INT; ${command}; echo "ended $?"; exec cat`)
  tmux('set-option', '-g', 'history-limit', '100000')
  onTestFinished(() => {
    tmux('kill-server')
    rmSync(folder, { recursive: true, force: true })
  })
  const capture = (...args: string[]): string => tmux('capture-pane', '-p', ...args).trimEnd()
  const pane: Pane = {
    press: (...keys) => void tmux('send-keys', ...keys),
    type: (text) => void tmux('send-keys', '-l', text),
    paste(text) {
      tmux('set-buffer', text)
      tmux('paste-buffer', '-p')
    },
    screen: () => capture(),
    coloured: () => capture('-e'),
    all: () => capture('-S', '-', '-J'),
    stored: () => capture('-e', '-N', '-S', '-'),
    sees: (text, timeout) =>
      pane.shows(() => {
        const all = pane.all()
        if (typeof text === 'string' ? !all.includes(text) : !text.test(all)) {
          throw new Error(`no ${text} in\n${all}`)
        }
      }, timeout),
    shows: (check, timeout = patience) => vi.waitFor(() => check(pane.screen()), { timeout, interval }),
    state: () =>
      tmux(
        'display-message',
        '-p',
        '#{pane_title} #{alternate_on} #{cursor_flag} #{insert_flag} #{keypad_flag} #{mouse_any_flag} #{origin_flag} #{wrap_flag} #{scroll_region_upper}-#{scroll_region_lower} #{pane_width}x#{pane_height}',
      ),
    cursor() {
      const [column, row] = tmux('display-message', '-p', '#{cursor_x} #{cursor_y}').split(' ').map(Number)
      return { column: column ?? 0, row: row ?? 0 }
    },
    pipe(command) {
      tmux('pipe-pane')
      tmux('pipe-pane', command)
    },
    resize: (width, height) => void tmux('resize-window', '-x', `${width}`, '-y', `${height}`),
  }
  return pane
}
