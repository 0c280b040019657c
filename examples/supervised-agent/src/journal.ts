import type { SpaceClient } from '@meup/agent-sdk'
import { type AnyEnvelope, correlations, type EnvelopeOf } from '@meup/protocol'
import { Conversation } from 'meup'

/** Prints the envelopes that a participant receives, and waits for those of one agent. */
export class Journal {
  readonly #agent: string
  readonly #unread: AsyncIterableIterator<AnyEnvelope>
  readonly #conversation = new Conversation()
  readonly #kinds = new Map<string, string>()
  #chapters = 0
  #acts: string[] = []

  constructor(space: SpaceClient, agent: string) {
    this.#agent = agent
    space.on('envelope', (envelope) => this.#onEnvelope(envelope))
    this.#unread = space.envelopes()
  }

  chapter(title: string): void {
    this.#chapters += 1
    this.#acts = []
    console.log(`\n${this.#chapters}. ${title}\n`)
  }

  /**
   * The MCP and capability envelopes since the last call of `chapter`, each as a text such as `ana mcp.request for
   * mcp.proposal`.
   */
  get acts(): readonly string[] {
    return this.#acts
  }

  /** Waits for the next proposal of the agent. Throws if the agent sends a chat message first. */
  proposal(): Promise<EnvelopeOf<'mcp.proposal'>> {
    return this.#next('mcp.proposal')
  }

  /** Waits for the next chat message of the agent. Throws if the agent sends a proposal first. */
  async answer(): Promise<string> {
    return (await this.#next('chat')).payload.message
  }

  async #next<K extends 'mcp.proposal' | 'chat'>(wanted: K): Promise<EnvelopeOf<K>> {
    for (;;) {
      const { done, value: envelope } = await this.#unread.next()
      if (done) throw new Error(`no ${wanted} from ${this.#agent}: the space was closed`)
      if (envelope.from !== this.#agent) continue
      if (envelope.kind === wanted) return envelope as EnvelopeOf<K>
      if (envelope.kind === 'mcp.proposal' || envelope.kind === 'chat')
        throw new Error(`${this.#agent} sends a ${envelope.kind} instead of a ${wanted}`)
    }
  }

  #onEnvelope(envelope: AnyEnvelope): void {
    const { id, kind } = envelope
    this.#kinds.set(id, kind)
    const lines = this.#conversation.lines(envelope)
    // Responses of tools are left out, because they are not decisions.
    if (/^(mcp|capability)\./.test(kind) && kind !== 'mcp.response') {
      this.#acts.push(this.#describe(envelope))
    }
    for (const line of lines) console.log(`   ${line}`)
  }

  #describe(envelope: AnyEnvelope): string {
    const answered = correlations(envelope).map((id) => ` for ${this.#kinds.get(id)}`)
    return `${envelope.from} ${envelope.kind}${answered.join('')}`
  }
}
