import type { SpaceClient } from '@meup/agent-sdk'
import { type AnyEnvelope, contextParent, Kind, namespaceOf } from '@meup/protocol'

/** The lists of an MCP server that may change. */
export type ListName = 'tools' | 'prompts' | 'resources'
/** Called with the name of a changed list, or the URI of a changed resource. */
type Listener = (changed: ListName | (string & {})) => void

const defaultThrottleMs = 250
/** Namespaces of the envelopes that the audit shows, so that such an envelope changes the audit resource. */
const audited: ReadonlySet<string> = new Set(
  [Kind.chat, Kind.reasoningStart, Kind.mcpRequest].map(namespaceOf),
)

/** Notifies listeners of changed resources and lists. The rate is limited, but the last change is always reported. */
export class Changes {
  readonly #uris: Uris
  readonly #throttleMs: number
  readonly #listeners = new Set<Listener>()
  readonly #changed = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(space: SpaceClient, uris: Uris, throttleMs = defaultThrottleMs) {
    this.#uris = uris
    this.#throttleMs = throttleMs
    const { head } = space.welcome.space // Envelopes up to `head` are a replay, not changes.
    space.on('envelope', (envelope) => {
      if ((envelope.seq ?? 0) > head) this.mark(getChangedUris(envelope, this.#uris))
    })
    space.on('lost', () => this.mark([uris.transcript, uris.contexts, uris.audit]))
    space.on('closed', () => clearTimeout(this.#timer))
  }

  /** Adds a listener. Returns a function that removes it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  mark(changed: readonly string[]): void {
    for (const each of changed) this.#changed.add(each)
    if (this.#changed.size === 0 || this.#timer !== undefined) return
    this.#timer = setTimeout(() => this.#notify(), this.#throttleMs)
  }

  #notify(): void {
    const changed = [...this.#changed]
    this.#changed.clear()
    this.#timer = undefined
    for (const listener of this.#listeners) changed.forEach(listener)
  }
}

function getChangedUris(envelope: AnyEnvelope, uris: Uris): string[] {
  const { id, kind, from, context, correlationId } = envelope
  const space = namespaceOf(kind)
  const isSpeech = space === namespaceOf(Kind.chat) && context === undefined
  // An answer ends a turn, so that the agent's latest turn has changed.
  const isAnswer = kind === Kind.chat && isSpeech && correlationId !== undefined
  const place = context ?? (kind === Kind.reasoningStart ? id : undefined)
  return [
    ...(isSpeech ? [uris.transcript] : []),
    ...(isAnswer ? [uris.reasoning(from)] : []),
    ...(audited.has(space) || kind === Kind.systemDecision ? [uris.audit] : []),
    ...(place === undefined
      ? []
      : [uris.contexts, ...getContextPath(place).map((path) => uris.context(path))]),
  ]
}

/** Returns a context and its ancestors. */
function getContextPath(context: string): string[] {
  const parent = contextParent(context)
  return parent === undefined ? [context] : [context, ...getContextPath(parent)]
}

/** The URIs of the resources that the space itself offers to MCP clients, and of those of its participants. */
export interface Uris {
  /** The common prefix of all URIs. */
  readonly base: string
  readonly transcript: string
  readonly contexts: string
  context(path: string): string
  /** The URI under which clients find a resource, or a resource template, of a participant. */
  offered(participant: string, uri: string): string
  /** Inverse of `offered`; `undefined` = the URI is that of a resource of the space. */
  parseOffered(uri: string): { readonly participant: string; readonly uri: string } | undefined
  readonly audit: string
  turnAudit(agent: string, turn: number): string
  /** URI of the reasoning in a turn, or in the latest completed one. */
  reasoning(agent: string, turn?: number): string
  /** URI templates (RFC 6570). */
  readonly templates: Readonly<Record<'context' | 'audit' | 'latest' | 'turn', string>>
}

export function createUris(space: string): Uris {
  const base = `meup://${space}/`
  const offers = `${base}resources/`
  return {
    base,
    transcript: `${base}transcript`,
    contexts: `${base}contexts`,
    context: (path) => `${base}contexts/${path}`,
    offered: (participant, uri) => `${offers}${participant}/${uri}`,
    parseOffered(uri) {
      const [, participant, own] = uri.startsWith(offers)
        ? (/^([^/]+)\/(.+)$/s.exec(uri.slice(offers.length)) ?? [])
        : []
      return participant !== undefined && own !== undefined ? { participant, uri: own } : undefined
    },
    audit: `${base}audit`,
    turnAudit: (agent, turn) => `${base}audit/${agent}/${turn}`,
    reasoning: (agent, turn) => `${base}reasoning/${agent}${turn === undefined ? '' : `/${turn}`}`,
    templates: {
      context: `${base}contexts/{+path}`,
      audit: `${base}audit/{agent}/{turn}`,
      latest: `${base}reasoning/{agent}`,
      turn: `${base}reasoning/{agent}/{turn}`,
    },
  }
}
