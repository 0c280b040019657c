import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine } from '../../test/support/cli.js'
import { openPane, type Pane } from '../../test/support/tmux.js'
import type { Frame } from './animation.js'

/** Milliseconds to show each group of typed keys. */
const keysMs = 90

/** A shell in a terminal that records its screens. `meup` is a command in it. */
export class Recorder {
  readonly pane: Pane
  readonly frames: Frame[] = []

  constructor(cwd: string, columns: number, rows: number) {
    const shell = join(cwd, '.shell')
    writeFileSync(shell, `PS1='$ '\nmeup() { ${commandLine('"$@"')}; }\nclear\n`)
    const unset = 'env -u NO_COLOR -u FORCE_COLOR -u NODE_DISABLE_COLORS -u CI'
    this.pane = openPane(`${unset} bash --rcfile '${shell}' -i`, { cwd, columns, rows })
  }

  /** Waits for `text`, and records the screen, to be shown for `ms` milliseconds. */
  async keep(ms: number, text?: string | RegExp): Promise<void> {
    if (text !== undefined) await this.pane.sees(text)
    this.frames.push({ screen: this.pane.coloured(), cursor: this.pane.cursor(), ms })
  }

  /** Types a text, a few keys at a time. */
  async type(text: string): Promise<void> {
    const before = this.pane.cursor().column
    const parts = text.match(/.{1,3}/gu) ?? []
    let width = 0
    for (const part of parts) {
      this.pane.type(part)
      width += part.length
      await this.pane.shows(() => {
        if (this.pane.cursor().column !== before + width) throw new Error(`${text} was not typed`)
      })
      await this.keep(keysMs)
    }
  }
}
