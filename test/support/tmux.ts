import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { needing } from '../verifies.js'
import { environment } from './cli.js'

/** A terminal of tmux, in which a shell runs. */
export interface Pane {
  /** Keys as tmux names them: `C-t`, `Escape`, `Enter`, `Tab`. */
  press(...keys: string[]): void
  type(text: string): void
  /** Puts this in as from a clipboard: marked as such, where whatever runs there has asked for it. */
  paste(text: string): void
  /** The visible screen, without empty lines at its end. */
  screen(): string
  /** The same, with colours as escape sequences. */
  coloured(): string
  /** Everything that has scrolled off the screen, and the screen. */
  all(): string
  /** The same as stored, with colours as escape sequences, and unchanged rows. */
  stored(): string
  /** Waits until this has come up, as many milliseconds as one may take for it. */
  sees(text: string | RegExp, timeout?: number): Promise<void>
  /** Waits until the screen is as it should be. */
  shows(check: (screen: string) => void, timeout?: number): Promise<void>
  /** The position of the cursor on the screen, from 0. */
  cursor(): { column: number; row: number }
  resize(columns: number, rows: number): void
  /** Passes on what it is sent from now on to a command, instead of to an earlier one. */
  pipe(command: string): void
  /** How the terminal works: its title, its modes, its size. */
  state(): string
}

export interface PaneOptions {
  readonly cwd: string
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
}

/** Milliseconds. Others may keep the machine busy, and each look at a screen is a process. */
const [patience, interval] = [30_000, 100]

export const inTmux = needing('tmux', () => spawnSync('tmux', ['-V']).status === 0)

/** Runs a command line in a terminal of its own, until the test is over. */
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
