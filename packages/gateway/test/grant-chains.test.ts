import { testSpaceConfig } from '@meup/gateway/testing'
import { type Envelope, GATEWAY, Kind, READ_TARGETED, StepBudget, WorkMeter } from '@meup/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import type { Admission, AdmissionContext } from '../src/core/admission/admission-context.js'
import { authorize } from '../src/core/admission/index.js'
import { SpaceState } from '../src/core/state/state.js'
import { allow, capabilities, GrantModel, people, subjects } from './grant-model.js'

/** Number of random histories of grants between participants. */
const chains = times(20, 100_000)
const steps = 30
const noBytes = new Uint8Array()

/** Returns a generator of numbers below a bound; equal seeds give equal numbers (mulberry32). */
function dice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** A space in which participants grant, revoke and lose capabilities, together with the model that it must match. */
class Chain {
  readonly model = new GrantModel()
  readonly state = new SpaceState()
  readonly log: Envelope[] = []
  now = Date.UTC(2026, 0, 1)
  readonly #roll: (below: number) => number

  constructor(seed: number) {
    this.#roll = dice(seed)
    this.configure()
  }

  step(): void {
    this.now += this.#roll(2000)
    this.state.trust.advance(this.now)
    this.model.tick(this.now)
    const move = this.#roll(20)
    if (move < 12) this.#give()
    else if (move < 14) this.#revokeOne()
    else if (move < 16) this.#revokeCovered()
    else if (move < 17) this.#decline()
    else if (move < 19) this.configure()
  }

  /**
   * Configures the participants: p0 can do everything most of the time; others have few capabilities, and sometimes one of them
   * is missing.
   */
  configure(): void {
    const rights = people
      .filter((_, index) => this.#roll(8) > 0 || index === 0)
      .map(
        (id, index) =>
          [id, index === 0 && this.#roll(8) > 0 ? [0, 1] : [...this.#some(2), granting]] as const,
      )
    this.model.configure(new Map(rights))
    const participants = Object.fromEntries(
      rights.map(([id, numbers]) => [id, { kind: 'agent', capabilities: this.#named(numbers) }]),
    )
    const payload = { event: 'configured', participants, mcp: { visibility: 'everyone' } }
    this.#apply(this.#envelope(GATEWAY, Kind.systemSpace, payload))
  }

  #give(): void {
    const [from, to] = [this.#one(people), this.#one(people)]
    const held = this.model.held(from)
    const given = this.#roll(3) > 0 && held.length > 0 ? [this.#one(held)] : this.#some(3)
    const lasts = this.#roll(3) === 0 ? 1 + this.#roll(10_000) : Number.POSITIVE_INFINITY
    const expiresAt = this.now + lasts
    const end = Number.isFinite(expiresAt) ? { expiresAt: new Date(expiresAt).toISOString() } : {}
    const payload = { recipient: to, capabilities: this.#named(given), ...end }
    const envelope = this.#envelope(from, Kind.capabilityGrant, payload)
    const mayGrant = allow(held, grantingTo(to)) && from !== to && this.model.knows(to)
    this.#try(envelope, mayGrant && this.model.covers(held, given))
    if (this.log.at(-1) === envelope) this.model.give({ id: envelope.id, from, to, given, expiresAt })
  }

  /** Revokes one grant, mostly an existing one. */
  #revokeOne(): void {
    const named = this.#one([...this.model.grants, undefined])
    const to = this.#roll(8) === 0 ? this.#one(people) : (named?.to ?? 'p1')
    const payload = { recipient: to, grantId: named?.id ?? 'none' }
    const isNamed = (id: string): boolean => id === named?.id && named.to === to
    this.#revoke(payload, isNamed)
  }

  #revokeCovered(): void {
    const [to, asked] = [this.#one(people), this.#some(3)]
    const payload = { recipient: to, capabilities: this.#named(asked) }
    this.#revoke(payload, (id) =>
      this.model.grants.some(
        (each) => each.id === id && each.to === to && this.model.covers(asked, each.given),
      ),
    )
  }

  #revoke(payload: Record<string, unknown>, isNamed: (id: string) => boolean): void {
    const from = this.#one(people)
    const envelope = this.#envelope(from, Kind.capabilityRevoke, payload)
    const isTrusted = allow(this.model.configured(from), revocation)
    const revoked = this.model
      .standing()
      .filter((grant) => isNamed(grant.id) && (isTrusted || grant.from === from))
      .map(({ id }) => id)
    this.#try(envelope, revoked.length > 0)
    this.model.end(revoked)
  }

  #decline(): void {
    const named = this.#one([...this.model.grants, undefined])
    const from = this.#roll(4) === 0 ? this.#one(people) : (named?.to ?? 'p1')
    const envelope = this.#envelope(from, Kind.capabilityGrantAck, { status: 'declined' })
    envelope.correlationId = named?.id ?? 'none'
    const isMine = named !== undefined && !named.fallen && named.to === from
    this.#try(envelope, isMine)
    if (isMine) this.model.end([named.id])
  }

  /** Submits an envelope, and expects that it is admitted exactly if the model allows it. */
  #try(envelope: Envelope, isAllowed: boolean): void {
    const meter = new WorkMeter(20_000)
    const admission = { envelope, sender: { participant: envelope.from }, now: this.now, meter }
    const refusal = authorize(
      admission as unknown as AdmissionContext,
      { state: this.state, config } as Admission,
    )
    if ((refusal === undefined) !== isAllowed) {
      expect.fail(`${isAllowed ? '' : 'not '}to be admitted: ${JSON.stringify({ envelope, refusal })}`)
    }
    if (refusal === undefined) this.#apply(envelope)
  }

  #apply(envelope: Envelope): void {
    this.log.push(envelope)
    this.state.apply(envelope, noBytes)
  }

  #envelope(from: string, kind: string, payload: Record<string, unknown>): Envelope {
    const ts = new Date(this.now).toISOString()
    return {
      protocol: 'meup/v0.3',
      id: `e${this.log.length + 1}x${this.#roll(1e9)}`,
      ts,
      from,
      kind,
      payload,
    }
  }

  #some(maximum: number): number[] {
    return Array.from({ length: 1 + this.#roll(maximum) }, () => this.#roll(capabilities.length))
  }

  #named(numbers: readonly number[]) {
    return numbers.flatMap((number) => capabilities[number] ?? [])
  }

  #one<T>(choices: readonly T[]): T {
    return choices[this.#roll(choices.length)] as T
  }
}

const granting = capabilities.indexOf('capability.grant')
const config = testSpaceConfig({ participants: {} })
const grantingTo = (to: string): number =>
  subjects.findIndex(
    ({ kind, payload }) =>
      kind === Kind.capabilityGrant && (payload as { recipient: string }).recipient === to,
  )
const revocation = subjects.findIndex(({ kind }) => kind === Kind.capabilityRevoke)
const grantsIn = (state: SpaceState) => state.trust.grants.list().map(({ id }) => id)
const textOf = (state: SpaceState): string => Buffer.from(state.toSnapshot()).toString()

/** Expects that the space allows what the model allows, and nothing beyond the operator's configuration. */
function compare({ state, model }: Pick<Chain, 'state' | 'model'>): void {
  const standing = model.standing().map(({ id }) => id)
  if (grantsIn(state).join() !== standing.join()) expect(grantsIn(state)).toEqual(standing)
  const maximum = subjects.map((_, number) => model.derived(number))
  for (const id of people) {
    const held = model.held(id)
    for (const [number, subject] of subjects.entries()) {
      const isReading = subject.kind === READ_TARGETED
      const may = isReading
        ? state.participants.readRights(id).readsTargeted
        : state.participants.allows(id, subject, new StepBudget())
      if (may === allow(held, number) && (!may || maximum[number]?.has(id))) continue
      expect.fail(`${id} may ${may ? '' : 'not '}do ${JSON.stringify(subject)}`)
    }
  }
}

/** Expects that the same log gives the same state, both from its beginning and from a snapshot after `cut` envelopes. */
function replay({ state, model, log, now }: Chain, cut: number): void {
  const [whole, first] = [new SpaceState(), new SpaceState()]
  for (const envelope of log) whole.apply(envelope, noBytes)
  for (const envelope of log.slice(0, cut)) first.apply(envelope, noBytes)
  const second = SpaceState.from(first.toSnapshot())
  for (const envelope of log.slice(cut)) second.apply(envelope, noBytes)
  for (const each of [whole, second]) {
    each.trust.advance(now)
    if (textOf(each) !== textOf(state)) expect(textOf(each)).toBe(textOf(state))
    compare({ state: each, model })
  }
}

test(
  `in ${chains} chains of grants nobody is ever allowed what the operator lets nobody pass on to it`,
  () => {
    const { seed = Date.now() } = fc.readConfigureGlobal()
    for (let count = 0; count < chains; count++) {
      const chain = new Chain(seed + count)
      try {
        for (let step = 0; step < steps; step++) {
          chain.step()
          compare(chain)
        }
        replay(chain, count % chain.log.length)
      } catch (error) {
        throw new Error(`MEUP_SEED=${seed + count} shows it`, { cause: error })
      }
    }
  },
  60_000 + chains * 10,
)
