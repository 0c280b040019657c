import { randomUUID } from 'node:crypto'
import type { CallOptions } from '@meup/agent-sdk'
import type { ElicitResult, OnElicitation } from '@meup/agent-sdk/internal'
import { Bounded } from '@meup/folds'
import type { McpRequestPayload } from '@meup/protocol'
import { type ElicitRequestFormParams, isSpecType } from '@modelcontextprotocol/server'

/** Maximum calls that are kept for clients to resume; the oldest are dropped, because their clients may never do so. */
const maxCalls = 1000

const declined: ElicitResult = { action: 'decline' }

/** Callbacks of the client's MCP request that currently waits for a call. */
interface Listener {
  onProgress(progress: {
    readonly progress: number
    readonly total?: number
    readonly message?: string
  }): void
  onNotification(notification: McpRequestPayload): void
  /** Called when an elicitation becomes available from `next`, and when it no longer is. */
  onQuestion?(isOpen: boolean): void
  /** Asks the client's user immediately, if the client supports that. */
  readonly ask?: OnElicitation
}

export interface Elicitation {
  readonly id: string
  readonly params: ElicitRequestFormParams
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal
  readonly answer: (result: ElicitResult) => void
}

/** Sends the request of a call. */
export type Start = (
  options: Required<Pick<CallOptions, 'signal' | 'onElicitation'>> &
    Required<Pick<CallOptions, 'onNotification' | 'onProposal'>> & { onProgress: Listener['onProgress'] },
) => Promise<Record<string, unknown>>

/**
 * A call for an MCP client. It may last longer than the client's request: while the user fills in a form, no request is open.
 */
export class ClientCall {
  readonly id = randomUUID()
  readonly result: Promise<Record<string, unknown>>
  listener: Listener | undefined
  /** Whether the client supports forms. */
  mayAsk = false
  readonly #abort = new AbortController()
  readonly #elicitations = new Map<string, Elicitation>()
  #wake = (): void => {}

  constructor(start: Start) {
    const onProgress: Listener['onProgress'] = (progress) => this.listener?.onProgress(progress)
    this.result = start({
      signal: this.#abort.signal,
      onProgress,
      onNotification: (notification) => this.listener?.onNotification(notification),
      onProposal: ({ id }) =>
        onProgress({ progress: 0, message: `proposed as ${id}: it waits for approval` }),
      onElicitation: (params, signal) => this.#elicit(params, signal),
    })
    this.result.catch(() => {}) // The client may have disconnected, so that no caller awaits it.
  }

  cancel(): void {
    this.#abort.abort('the asker has cancelled it')
  }

  answer(id: string, result: ElicitResult): void {
    this.#elicitations.get(id)?.answer(result)
  }

  /** Resolves with the next elicitation for the user, or with `undefined` when the call has ended. */
  async next(): Promise<Elicitation | undefined> {
    const over = this.result.then(
      () => true,
      () => true,
    )
    for (;;) {
      const asked = new Promise<false>((resolve) => {
        this.#wake = () => resolve(false)
      })
      const [elicitation] = this.#elicitations.values()
      if (elicitation !== undefined || (await Promise.race([asked, over]))) return elicitation
    }
  }

  #elicit(params: object, signal: AbortSignal): Promise<ElicitResult> {
    if (!this.mayAsk || !isSpecType.ElicitRequestFormParams(params)) return Promise.resolve(declined)
    if (this.listener?.ask !== undefined) return this.listener.ask({ ...params }, signal)
    const id = randomUUID()
    return new Promise((resolve) => {
      const answer = (result: ElicitResult): void => {
        if (!this.#elicitations.delete(id)) return
        this.listener?.onQuestion?.(this.#elicitations.size > 0)
        resolve(result)
      }
      this.#elicitations.set(id, { id, params, signal, answer })
      this.listener?.onQuestion?.(true)
      signal.addEventListener('abort', () => answer({ action: 'cancel' }))
      this.#wake()
    })
  }
}

/** The calls that clients may resume when their users have filled in a form. */
export class ClientCalls {
  readonly #known = new Bounded<ClientCall>(maxCalls)

  keep(call: ClientCall): void {
    this.#known.set(call.id, call)
  }

  /** Removes a call after its client has received the result, which may be large. */
  forget(id: string): void {
    this.#known.delete(id)
  }

  get(id: string): ClientCall | undefined {
    return this.#known.get(id)
  }
}
