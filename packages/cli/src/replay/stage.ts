import type { AnyEnvelope } from '@meup/protocol'
import { exitCodes } from '../exit.js'
import { printer, tell } from '../output.js'
import { isAtTerminal, Prompt } from '../view/prompt.js'
import { Screen } from '../view/screen.js'
import { surfaceOn } from '../view/surface.js'

/** Where a recording is played. */
export interface Stage {
  show(envelope: AnyEnvelope): void
  /** Says something beside it. */
  tell(line: string): void
  close(): void
}

/** As `meup watch` shows a space: at a terminal, Ctrl+T hides thoughts and shows them again. */
export function openStage(json: boolean | undefined): Stage {
  if (json || !isAtTerminal()) return { show: printer(json), tell, close: () => {} }
  const prompt = new Prompt({ echoes: false })
  let showsThoughts = true
  const screen = new Screen(surfaceOn(prompt), () => showsThoughts)
  prompt.onCtrl('t', () => {
    showsThoughts = !showsThoughts
    screen.draw(showsThoughts ? 'thinking visible' : 'thinking hidden')
  })
  prompt.lines.on('SIGINT', () => process.exit(exitCodes.interrupted))
  return {
    show: (envelope) => screen.show(envelope),
    tell: (line) => prompt.above(() => tell(line)),
    close: () => prompt.lines.close(),
  }
}
