import type { Interface } from 'node:readline'
import type { Space } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { type ConnectionFlags, destination } from '../connection.js'
import { exitCodes } from '../exit.js'
import { print, printer, tell } from '../output.js'
import { readTail } from '../reading.js'
import type { Lines } from '../render/conversation.js'
import { isAtTerminal, Prompt, type PromptOptions } from './prompt.js'
import { Screen } from './screen.js'
import { surfaceOn } from './surface.js'
import { Thinking } from './thinking.js'

export interface ViewFlags extends ConnectionFlags {
  readonly verbose?: boolean
}

/** What a command shows of a space. */
export interface View {
  show(envelope: AnyEnvelope): void
  /** Puts reasoning behind what was shown last. */
  append(envelope: AnyEnvelope, reasoning: readonly string[]): void
  /** Prints lines that were asked for. */
  print(lines: readonly string[]): void
  /** Says something beside it. */
  tell(line: string): void
  /** What is typed at a terminal. */
  readonly lines?: Interface
  close(): void
}

export interface ViewOptions extends PromptOptions {
  /** What makes the lines at a terminal; default: the same as elsewhere. */
  readonly begin?: () => Lines
}

const printAll = (lines: readonly string[]): void => lines.forEach(print)

/** Lines, one below the other; at a terminal, Ctrl+T hides and shows thoughts. */
export function openView(space: Space, flags: ViewFlags, options: ViewOptions): View {
  if (flags.json || !isAtTerminal()) {
    const show = printer(flags.json)
    return { show, append: (_, lines) => printAll(lines), print: printAll, tell, close: () => {} }
  }
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
  const surface = surfaceOn(prompt)
  const screen = new Screen(surface, () => thinking.isShown, options.begin)
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
    append: (envelope, reasoning) => screen.append(envelope, reasoning),
    print: surface.print,
    tell: say,
    lines,
    close: () => lines.close(),
  }
}
