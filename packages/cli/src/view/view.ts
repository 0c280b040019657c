import type { Interface } from 'node:readline'
import type { AnyEnvelope, SubscribePayload, WelcomePayload } from '@meup/protocol'
import type { ConnectionFlags } from '../lib/connection.js'
import type { LineRenderer } from '../render/conversation.js'
import type { Completer } from './keyboard.js'

export interface ViewFlags extends ConnectionFlags {
  readonly verbose?: boolean
  readonly screenReader?: boolean
}

/** The view of a space in a command. */
export interface View {
  show(envelope: AnyEnvelope): void
  /** Appends reasoning to the envelope shown last. */
  append(envelope: AnyEnvelope, reasoning: readonly string[]): void
  /** Prints lines that were asked for. */
  print(lines: readonly string[]): void
  /** Says something beside it. */
  notify(line: string): void
  toggleThoughts(): void
  toggleOutput(): void
  /** Creates a renderer of the same kind for past envelopes. */
  past(): LineRenderer
  /** Shows less from now on, or all again; resolves with what the gateway says to that. */
  choose(filter: ViewFilter): Promise<WelcomePayload>
  /** The current filter; absent = everything. */
  readonly filter: ViewFilter | undefined
  /** Lets one of these be chosen; `undefined` = none. */
  ask(question: string, choices: readonly string[]): Promise<number | undefined>
  /** Redraws the status. */
  refresh(): void
  /** Lines typed at a terminal. */
  readonly lines: Interface | undefined
  close(): void
}

export interface ViewFilter {
  /** What the gateway is asked for. */
  readonly subscription: SubscribePayload | undefined
  /** For people; absent = everything. */
  readonly name?: string
  includes(envelope: AnyEnvelope): boolean
}

export interface ViewOptions {
  /** Whether input is accepted. */
  readonly echoes: boolean
  readonly completer?: Completer
  /** On a line: what waits for a decision. */
  readonly pending?: () => string | undefined
  /** Additional key bindings. */
  readonly keys?: Readonly<Record<string, () => void>>
  /** What the command shows alone. */
  readonly filter?: ViewFilter
}
