import type { SpaceClient } from '@meup/agent-sdk'
import { type AnyEnvelope, correlations, type EnvelopeOf } from '@meup/protocol'
import { Conversation } from 'meup'

/** What somebody is shown of a space: printed as it comes, and kept for questions about one agent. */
export class Journal {
  readonly #agent: string
  readonly #unread: AsyncIterableIterator<AnyEnvelope>
  readonly #conversation = new Conversation()
  readonly #kinds = new Map<string, string>()
  #chapters = 0
  #acts: string[] = []

  constructor(space: SpaceClient, agent: string) {
    this.#agent = agent
    space.on('envelope', (envelope) => this.#note(envelope))
    this.#unread = space.envelopes()
  }

  chapter(title: string): void {
    this.#chapters += 1
    this.#acts = []
    console.log(`\n${this.#chapters}. ${title}\n`)
  }

  /** Who has proposed, decided, called, granted and revoked in this chapter: `ana mcp.request for mcp.proposal`. */
  get acts(): readonly string[] {
    return this.#acts
  }

  /** The next thing that the agent wants done. Throws when it answers without. */
  proposal(): Promise<EnvelopeOf<'mcp.proposal'>> {
    return this.#next('mcp.proposal')
  }

  /** The next answer of the agent. Throws when it wants something done first. */
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

  #note(envelope: AnyEnvelope): void {
    const { id, kind } = envelope
    this.#kinds.set(id, kind)
    const lines = this.#conversation.lines(envelope)
    // What a tool answers decides nothing.
    if (/^(mcp|capability)\./.test(kind) && kind !== 'mcp.response') {
      this.#acts.push(this.#actOf(envelope))
    }
    for (const line of lines) console.log(`   ${line}`)
  }

  #actOf(envelope: AnyEnvelope): string {
    const answered = correlations(envelope).map((id) => ` for ${this.#kinds.get(id)}`)
    return `${envelope.from} ${envelope.kind}${answered.join('')}`
  }
}
