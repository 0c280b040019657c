import type { Interface } from 'node:readline'
import type { AnyEnvelope, SubscribePayload, WelcomePayload } from '@meup/protocol'
import type { ConnectionFlags } from '../lib/connection.js'
import type { LineRenderer } from '../render/conversation.js'
import type { Completer } from './keyboard.js'

export interface ViewFlags extends ConnectionFlags {
  readonly verbose?: boolean
  readonly screenReader?: boolean
}

/** What a command shows of a space. */
export interface View {
  show(envelope: AnyEnvelope): void
  /** Puts reasoning behind what was shown last. */
  append(envelope: AnyEnvelope, reasoning: readonly string[]): void
  /** Prints lines that were asked for. */
  print(lines: readonly string[]): void
  /** Says something beside it. */
  notify(line: string): void
  toggleThoughts(): void
  toggleOutput(): void
  /** What shows envelopes of the past as this view shows those of now. */
  past(): LineRenderer
  /** Shows less from now on, or all again; resolves with what the gateway says to that. */
  choose(filter: ViewFilter): Promise<WelcomePayload>
  /** What it shows at present; absent = everything. */
  readonly filter: ViewFilter | undefined
  /** Lets one of these be chosen; `undefined` = none. */
  ask(question: string, choices: readonly string[]): Promise<number | undefined>
  /** What is told beside the conversation is something else now. */
  refresh(): void
  /** What is typed at a terminal. */
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
  /** One may type. */
  readonly echoes: boolean
  readonly completer?: Completer
  /** On a line: what waits for a decision. */
  readonly pending?: () => string | undefined
  /** What else keys do. */
  readonly keys?: Readonly<Record<string, () => void>>
  /** What the command shows alone. */
  readonly filter?: ViewFilter
}
