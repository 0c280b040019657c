import { type Capability, compileCapabilities, covers, type Subject } from '@meup/protocol'

export const people = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5']

/** All capabilities that the random histories of `grant-chains.test.ts` configure or grant. */
export const capabilities: Capability[] = [
  '*',
  'observe.targeted',
  'a.*',
  'a.x',
  'a.y',
  'b.*',
  { kind: 'a.x', context: 'c' },
  { kind: 'a.*', to: 'p1' },
  { kind: 'b.*', to: ['p*', '!p2'] },
  'capability.*',
  'capability.grant',
  'capability.revoke',
  { kind: 'capability.grant', payload: { recipient: ['p3', 'p4'] } },
  'chat',
  'chat.cancel',
  { kind: 'mcp.request', to: 'p5' },
  { tool: 'p5/r*' },
  { tool: 'p5/read', arguments: { path: 'a/**' } },
]

/** Actions that a participant may attempt. */
export const subjects: Subject[] = [
  { kind: 'a.x', payload: {} },
  { kind: 'a.x', context: 'c', payload: {} },
  { kind: 'a.y', to: ['p1'], payload: {} },
  { kind: 'a.y', to: ['p2'], payload: {} },
  { kind: 'b.z', payload: {} },
  { kind: 'b.z', to: ['p2', 'p3'], payload: {} },
  ...people.map((recipient) => ({ kind: 'capability.grant', payload: { recipient } })),
  { kind: 'capability.revoke', payload: {} },
  { kind: 'observe.targeted', payload: {} },
  { kind: 'chat', payload: {} },
  { kind: 'chat.cancel', payload: {} },
  { kind: 'mcp.request', to: ['p5'], payload: { method: 'tools/list' } },
  ...['read', 'write'].map((name) => ({
    kind: 'mcp.request',
    to: ['p5'],
    payload: { method: 'tools/call', params: { name, arguments: { path: 'a/b' } } },
  })),
]

/** Whether a capability allows a subject, and whether a capability covers another one, by their indexes. */
const allowing = capabilities.map((one) => {
  const { allows } = compileCapabilities([one])
  return subjects.map((subject) => allows(subject).allowed)
})
const covering = capabilities.map((one) => capabilities.map((other) => covers([one], [other])))

/** Whether one of these capabilities allows a subject. */
export const allow = (held: readonly number[], subject: number): boolean =>
  held.some((one) => allowing[one]?.[subject])

interface ModelGrant {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly given: readonly number[]
  readonly expiresAt: number
  /** The grant was revoked or declined, or has expired, or its grantor or recipient is no longer in the configuration. */
  ended: boolean
  /** The grant has ended, or its grantor no longer holds the granted capabilities. */
  fallen: boolean
}

/**
 * Grants as specified [MEUP-4.13 to 4.15], regardless of cost: after every change, all grants are checked again until no more
 * of them fall.
 */
export class GrantModel {
  readonly grants: ModelGrant[] = []
  #configured = new Map<string, readonly number[]>()

  knows(id: string): boolean {
    return this.#configured.has(id)
  }

  configure(configured: ReadonlyMap<string, readonly number[]>): void {
    this.#configured = new Map(configured)
    this.#settle()
  }

  give(grant: Omit<ModelGrant, 'ended' | 'fallen'>): void {
    this.grants.push({ ...grant, ended: false, fallen: false })
  }

  end(ids: readonly string[]): void {
    for (const grant of this.grants) if (ids.includes(grant.id)) grant.ended = true
    this.#settle()
  }

  tick(now: number): void {
    this.end(this.grants.filter(({ expiresAt }) => expiresAt <= now).map(({ id }) => id))
  }

  standing(): ModelGrant[] {
    return this.grants.filter(({ fallen }) => !fallen)
  }

  /** Indexes of a participant's capabilities; of the grants, only those before the one at `end` count. */
  held(id: string, end = this.grants.length): number[] {
    const granted = this.grants.slice(0, end).filter(({ to, fallen }) => to === id && !fallen)
    return [...this.configured(id), ...granted.flatMap(({ given }) => given)]
  }

  covers(held: readonly number[], asked: readonly number[]): boolean {
    return asked.every((wanted) => held.some((one) => covering[one]?.[wanted]))
  }

  /** Indexes of a participant's configured capabilities. */
  configured(id: string): readonly number[] {
    return this.#configured.get(id) ?? []
  }

  /**
   * Upper bound of the participants that may do something: those configured for it, recipients of their open grants, and so on,
   * from earlier grants to later ones. Does not check that a grantor holds everything that it grants.
   */
  derived(subject: number): Set<string> {
    const may = new Set(people.filter((id) => allow(this.configured(id), subject)))
    for (const { from, to, given, ended } of this.grants) {
      if (!ended && may.has(from) && allow(given, subject)) may.add(to)
    }
    return may
  }

  #settle(): void {
    for (let isSettled = false; !isSettled; ) {
      isSettled = true
      for (const [index, grant] of this.grants.entries()) {
        if (grant.fallen) continue
        const { from, to, given } = grant
        if (!this.knows(from) || !this.knows(to)) grant.ended = true
        if (!grant.ended && this.covers(this.held(from, index), given)) continue
        grant.fallen = true
        isSettled = false
      }
    }
  }
}
