import { type Envelope, GATEWAY, Kind, PROTOCOL } from '@meup/protocol'
import type { Draft } from '../ports/envelope-log.js'

type Fields = Pick<Envelope, 'from' | 'kind'> & Partial<Envelope>

const beginning = Date.UTC(2026, 1, 21)
const agents = ['ana', 'ben', 'cleo']
const texts = [
  'so be it',
  '1. look\n2. tell',
  '[計画] ask [エラー] none',
  'it failed',
  'plan:\n- a',
  '',
  'Bearer abc',
]
const phases = [undefined, undefined, 'plan', 'error', 'waiting_approval']
const calls: readonly string[] = [Kind.mcpRequest, Kind.mcpProposal]
const results = [
  { result: { content: [{ type: 'text', text: 'ok' }] } },
  { result: { content: [{ type: 'text', text: 'not ok' }], isError: true } },
  { error: { code: 1, message: 'no' } },
]

/** An envelope as the log has it: one second after the other unless `fields` say otherwise. */
export function draftOf(seq: number, fields: Fields): Draft {
  const ts = new Date(beginning + seq * 1000).toISOString()
  const envelope: Envelope = { protocol: PROTOCOL, id: `e${seq}`, ts, payload: {}, ...fields }
  const { id, from, kind, to, context, correlationId } = envelope
  const body = new TextEncoder().encode(JSON.stringify(envelope))
  return {
    seq,
    id,
    ts: envelope.ts,
    from,
    kind,
    ...(to && { to }),
    ...(context !== undefined && { context }),
    ...(correlationId !== undefined && { correlationId }),
    body,
    content: body,
  }
}

/** A log in which much of what may happen does, whether it makes sense or not; the same for the same seed. */
export function randomDrafts(seed: number, length: number): Draft[] {
  const dice = new Dice(seed)
  const said: Fields[] = []
  return Array.from({ length }, (_, index) => {
    const fields = { id: `e${index + 1}`, ...connected(dice, anything(dice), said) }
    said.push(fields)
    return draftOf(index + 1, fields)
  })
}

/** Something that may happen, on its own. */
function anything(dice: Dice): Fields {
  const [from, addressee] = [dice.pick(agents), dice.pick(agents)]
  const payload = { message: dice.pick(texts), phase: dice.pick(phases) }
  const tool = { name: dice.pick(['search', 'shell']), arguments: { text: dice.pick(texts) } }
  const call = { from, payload: { method: 'tools/call', params: tool } }
  const parallelGroup = dice.below(2)
  return dice.pick<Fields>([
    { kind: Kind.chat, from, payload },
    { kind: Kind.chatCancel, from, payload: { reason: 'enough' } },
    { kind: Kind.reasoningStart, from, payload },
    { kind: Kind.reasoningThought, from, payload },
    { kind: Kind.reasoningThought, from, payload },
    { kind: Kind.reasoningConclusion, from, payload },
    { kind: Kind.mcpRequest, ...call, to: [addressee], parallelGroup },
    { kind: Kind.mcpRequest, ...call, to: [addressee], parallelGroup },
    { kind: Kind.mcpRequest, ...call },
    { kind: Kind.mcpProposal, ...call },
    { kind: Kind.mcpResponse, from, payload: dice.pick(results) },
    { kind: Kind.mcpResponse, from, payload: dice.pick(results) },
    { kind: Kind.mcpResponse, from, payload: dice.pick(results) },
    { kind: Kind.mcpReject, from, payload: { reason: 'unsafe' } },
    {
      kind: Kind.systemDecision,
      from: GATEWAY,
      to: [addressee],
      payload: { ...denial, attemptedId: dice.pick(ids) },
    },
  ])
}

/** What was refused, and may be sent again. */
const ids = ['x1', 'x2', 'x3']
const denial = {
  decision: 'denied',
  reasonCode: 'forbidden',
  message: 'no',
  attemptedKind: Kind.mcpRequest,
  count: 1,
}

/** Puts it where something is going on. What answers a call answers one of the latest. */
function connected(dice: Dice, fields: Fields, said: readonly Fields[]): Fields {
  const recent = said.slice(-10)
  const isAnswer = fields.kind === Kind.mcpResponse || fields.kind === Kind.mcpReject
  const answered = recent.filter(({ kind }) => !isAnswer || calls.includes(kind))
  const starts = recent.filter(({ kind }) => kind === Kind.reasoningStart)
  const before = answered.length > 0 && dice.below(4) > 0 ? dice.pick(answered) : undefined
  const around = starts.length > 0 && dice.below(4) > 0 ? dice.pick(starts) : undefined
  const refused = ids.find((each) => !said.some(({ id }) => id === each))
  const id = fields.kind === Kind.mcpRequest && dice.below(4) === 0 ? refused : undefined
  if (fields.from === GATEWAY) {
    return { ...fields, payload: { ...fields.payload, ...(around?.id && { context: around.id }) } }
  }
  return {
    ...fields,
    ...(before?.id && { correlationId: before.id }),
    ...(around?.id && { context: around.id }),
    ...(id && { id }),
  }
}

/** Numbers that look random, and are the same for the same seed. */
class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  below(limit: number): number {
    this.#state = Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    const mixed = Math.imul(this.#state ^ (this.#state >>> 12), 0x297a2d39)
    return ((mixed ^ (mixed >>> 15)) >>> 0) % limit
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value
  }
}
