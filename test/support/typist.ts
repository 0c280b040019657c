import { spawn } from 'node:child_process'
import { onTestFinished, vi } from 'vitest'
import { commandLine, environment } from './cli.js'

/** Somebody at a terminal, who runs `meup`. */
export interface Typist {
  press(keys: string): void
  /** Everything that has come up. */
  readonly all: string
  /** What has come up since the screen was cleared. */
  readonly screen: string
  /** Waits until this is on the screen. */
  sees(text: string): Promise<void>
  readonly ended: Promise<number | null>
}

const cleared = '\u001b[1;1H\u001b[0J'

/** `script` of util-linux lends the command a terminal of its own. */
export function typist(args: string, cwd: string): Typist {
  const child = spawn('script', ['-qfec', commandLine(args), '/dev/null'], {
    cwd,
    env: environment({ TERM: 'xterm' }),
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let all = ''
  child.stdout.on('data', (chunk: Buffer) => {
    all += chunk
  })
  const screen = (): string => all.slice(all.lastIndexOf(cleared) + 1)
  const mustShow = (text: string) => (): void => {
    if (!screen().includes(text)) throw new Error(`no ${text} in ${JSON.stringify(screen())}`)
  }
  return {
    press: (keys) => void child.stdin.write(keys),
    get all() {
      return all
    },
    get screen() {
      return screen()
    },
    sees: (text) => vi.waitFor(mustShow(text), { timeout: 15_000, interval: 20 }),
    ended: new Promise((resolve) => child.on('close', resolve)),
  }
}
