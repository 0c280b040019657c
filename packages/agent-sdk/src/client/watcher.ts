import { type AnyEnvelope, Kind, type WelcomePayload } from '@meup/protocol'
import { Membership } from './base-client.js'
import { OpenProposals, Proposals } from './proposals.js'
import { Requests } from './requests.js'
import type { Dial, DialRequest } from './transport.js'
import { setVisibility } from './visibility.js'

/**
 * The seat of somebody who watches a space, speaks in it, and decides what others may do. It offers nothing and thinks
 * nothing aloud, so that neither tools nor the rules about secrets need come along: a page for browsers stays small.
 */
export class Watcher extends Membership {
  readonly #requests = new Requests()
  readonly #openProposals = new OpenProposals(this)
  /** What others propose, and what this participant decides about it. */
  readonly proposals = new Proposals(this, this.#requests, this.#openProposals)

  private constructor(dial: Dial, request: Omit<DialRequest, 'safety'>) {
    super(dial, request, undefined)
  }

  /** Rejects with `ProtocolError` when the gateway refuses, `ConnectionError` when it cannot be reached. */
  static async open(dial: Dial, request: Omit<DialRequest, 'safety'>): Promise<Watcher> {
    const watcher = new Watcher(dial, request)
    await watcher.enter()
    return watcher
  }

  /** As `Space` does it. */
  setVisibility(context: string, reasoningVisible: boolean): Promise<AnyEnvelope> {
    return setVisibility(this, context, reasoningVisible)
  }

  /** Asks whoever thinks in this context to stop. It is a request: its owner ends it, or does not. */
  interrupt(context: string, reason?: string): Promise<AnyEnvelope> {
    const payload = reason === undefined ? {} : { reason }
    return this.send({ kind: Kind.reasoningCancel, context, payload })
  }

  protected take(envelope: AnyEnvelope, frame: string): boolean {
    this.#requests.take(envelope)
    this.#openProposals.take(envelope, frame)
    return false
  }

  protected told({ resume }: WelcomePayload): void {
    if (resume.status === 'lost') this.#openProposals.clear()
  }

  protected end(reason: Error): void {
    this.#requests.failAll(reason)
    this.#openProposals.clear()
  }
}
