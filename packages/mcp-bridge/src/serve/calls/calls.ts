import { randomUUID } from 'node:crypto'
import type { CallOptions } from '@meup/agent-sdk'
import type { ElicitResult, OnElicitation } from '@meup/agent-sdk/internal'
import { Bounded } from '@meup/folds'
import type { McpRequestPayload } from '@meup/protocol'
import { type ElicitRequestFormParams, isSpecType } from '@modelcontextprotocol/server'

/** Limit of calls; the oldest are dropped, because clients may never resume them. */
const maxCalls = 1000

const declined: ElicitResult = { action: 'decline' }

/** A client's request that waits for a call. */
interface Listener {
  onProgress(progress: {
    readonly progress: number
    readonly total?: number
    readonly message?: string
  }): void
  onNotification(notification: McpRequestPayload): void
  /** Whether an elicitation is waiting in `next`. */
  onQuestion?(isOpen: boolean): void
  /** Asks the user at once, if possible. */
  readonly ask?: OnElicitation
}

export interface Elicitation {
  readonly id: string
  readonly params: ElicitRequestFormParams
  /** Aborted when the answer is no longer awaited. */
  readonly signal: AbortSignal
  readonly answer: (result: ElicitResult) => void
}

/** Makes the request of the call. */
export type Start = (
  options: Required<Pick<CallOptions, 'signal' | 'onElicitation'>> &
    Required<Pick<CallOptions, 'onNotification' | 'onProposal'>> & { onProgress: Listener['onProgress'] },
) => Promise<Record<string, unknown>>

/** A call for a client. It continues while the user fills in a form, beyond the client's request. */
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
    this.result.catch(() => {}) // The client may be gone.
  }

  cancel(): void {
    this.#abort.abort('the asker has cancelled it')
  }

  answer(id: string, result: ElicitResult): void {
    this.#elicitations.get(id)?.answer(result)
  }

  /** The next elicitation for the user; `undefined` once there is a result. */
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

/** The calls that MCP clients resume once their users have filled in a form. */
export class ClientCalls {
  readonly #known = new Bounded<ClientCall>(maxCalls)

  keep(call: ClientCall): void {
    this.#known.set(call.id, call)
  }

  /** Drops a call whose client has the possibly large result. */
  forget(id: string): void {
    this.#known.delete(id)
  }

  get(id: string): ClientCall | undefined {
    return this.#known.get(id)
  }
}
