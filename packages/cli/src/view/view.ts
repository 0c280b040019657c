import type { Interface } from 'node:readline'
import type { Space } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { type ConnectionFlags, destination } from '../connection.js'
import { exitCodes } from '../exit.js'
import { print, printer, tell } from '../output.js'
import { readTail } from '../reading.js'
import { isAtTerminal, Prompt } from './prompt.js'
import { Screen } from './screen.js'
import { Thinking } from './thinking.js'

export interface ViewFlags extends ConnectionFlags {
  readonly verbose?: boolean
}

/** What a command shows of a space. */
export interface View {
  show(envelope: AnyEnvelope): void
  /** Says something beside it. */
  tell(line: string): void
  /** What is typed at a terminal. */
  readonly lines?: Interface
  close(): void
}

/** Lines, one below the other; at a terminal, Ctrl+T hides and shows thoughts. `echoes`: what is typed is shown. */
export function openView(space: Space, flags: ViewFlags, options: { readonly echoes: boolean }): View {
  if (flags.json || !isAtTerminal()) return { show: printer(flags.json), tell, close: () => {} }
  const prompt = new Prompt(options)
  const { lines } = prompt
  const say = (line: string): void => prompt.above(() => tell(line))
  const complain = (what: string, error: unknown): void => {
    if (flags.verbose) say(`${what}: ${error}`)
  }
  const since = space.welcome.resume.from - 1
  let isConnected = true
  const thinking = new Thinking({
    space,
    isConnected: () => isConnected,
    changed: () => screen.draw(thinking.status),
    reread: () =>
      void readTail(destination(flags), since).then(
        (logged) => {
          screen.add(logged)
          screen.draw(thinking.status)
        },
        (error: unknown) => complain('Failed to read the log again', error),
      ),
    failed: (error) => complain('Failed to toggle reasoning on server', error),
  })
  const surface = {
    get rows() {
      return prompt.rows
    },
    print: (texts: readonly string[]) => prompt.above(() => texts.forEach(print)),
    clear: () => prompt.clear(),
  }
  const screen = new Screen(surface, () => thinking.isShown)
  space.on('visibility', (change) => thinking.follow(change))
  space.on('reconnecting', () => {
    isConnected = false
  })
  space.on('connected', () => {
    isConnected = true
  })
  prompt.onCtrl('t', () => thinking.toggle())
  lines.on('SIGINT', () => process.exit(exitCodes.interrupted))
  return {
    show: (envelope) => {
      thinking.take(envelope)
      screen.show(envelope)
    },
    tell: say,
    lines,
    close: () => lines.close(),
  }
}
