import { type Envelope, GATEWAY, type ParticipantDetails } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { ContextStates, Participants, WaitingChats } from '../src/index.js'
import { cancel, chat, conclusion, type Fields, start, toLog } from './support/log.js'

type Kinds = Readonly<Record<string, ParticipantDetails['kind']>>

interface State {
  readonly frontDesk?: string | undefined
  readonly away?: readonly string[]
  /** Seq of the head of the log in the welcome that describes the participants. */
  readonly head?: number
}

function spaceOf(kinds: Kinds, { frontDesk, away = [], head = 0 }: State = {}): Participants {
  const participants = new Participants()
  const described = Object.entries(kinds).map(([id, kind]): ParticipantDetails => {
    return { id, kind, capabilities: [], status: away.includes(id) ? 'away' : 'present' }
  })
  const space = { id: 'demo', epoch: 'x', head, ...(frontDesk !== undefined && { frontDesk }) }
  participants.onWelcome({ participants: described, space })
  return participants
}

const people = { ana: 'human', bot: 'agent', aide: 'agent', files: 'mcp' } as const

/** The seqs of the messages that wait for each agent after these envelopes. */
function waiting(all: readonly Fields[], frontDesk?: string): Record<string, number[]> {
  const states = new ContextStates()
  const chats = new WaitingChats(spaceOf(people, { frontDesk }))
  for (const envelope of toLog(all) as Envelope[]) {
    states.apply(envelope)
    chats.apply(envelope)
  }
  const byAgent: Record<string, number[]> = {}
  for (const { id, agent } of chats.list(states.open()))
    byAgent[agent] = [...(byAgent[agent] ?? []), Number(id.slice(1))]
  return byAgent
}

const about = (id: string) => ({ correlationId: id })
const busy = [chat('ana', 'one'), start('bot', 'thinking', about('e1'))]
const second = [...busy, chat('ana', 'two')]

test('a message waits for an agent at work, and none for an idle one', () => {
  expect(waiting([chat('ana', 'one')])).toEqual({})
  expect(waiting(busy)).toEqual({})
  expect(waiting(second)).toEqual({ bot: [3] })
})

test('a message that came before the run about an earlier one began waits as well', () => {
  const all = [chat('ana', 'one'), chat('ana', 'two'), start('bot', 'thinking', about('e1'))]
  expect(waiting(all)).toEqual({ bot: [2] })
})

test('it waits for those whom it asks', () => {
  const two = [...busy, start('aide', 'thinking', about('e1'))]
  expect(waiting([...two, chat('ana', 'all')])).toEqual({ bot: [4], aide: [4] })
  expect(waiting([...two, chat('ana', 'desk')], 'aide')).toEqual({ aide: [4] })
  expect(waiting([...two, chat('ana', 'one', { to: ['bot'] })])).toEqual({ bot: [4] })
  expect(waiting([...two, chat('ana', 'named', { payload: { mentions: ['aide'] } })])).toEqual({ aide: [4] })
  expect(waiting([...two, chat('bot', 'progress')])).toEqual({ aide: [4] })
})

test.each([
  ['a run about it', start('bot', 'next', about('e3'))],
  ['an answer', chat('bot', 'both', { correlationId: ['e1', 'e3'] })],
  ['its retraction', { kind: 'chat.cancel', from: 'ana', ...about('e3') }],
  ['the end of the work', conclusion('bot', 'done', { context: 'e2' })],
  ['a cancelled run', cancel('bot', 'e2')],
])('it waits no longer after %s', (_, then) => {
  expect(waiting([...second, then])).toEqual({})
})

test('it still waits while another message is worked on, but not once a later one is', () => {
  const queue = [...second, chat('ana', 'three'), conclusion('bot', 'done', { context: 'e2' })]
  expect(waiting([...queue, start('bot', 'next', about('e3'))])).toEqual({ bot: [4] })
  expect(waiting([...queue, start('bot', 'next', about('e4'))])).toEqual({})
})

test('a reply, and a message in a run, do not wait', () => {
  expect(waiting([...busy, chat('ana', 'yes', about('e2'))])).toEqual({})
  expect(waiting([...busy, chat('ana', 'here', { context: 'e2' })])).toEqual({})
})

describe('no program will answer a message any more', () => {
  /** The messages that no program will answer any more, by the seq of the envelope after which that is certain. */
  function lost(all: readonly Fields[], { kinds = people, ...state }: Lossy = {}): Record<number, string> {
    const participants = spaceOf(kinds, state)
    const chats = new WaitingChats(participants)
    const found: Record<number, string> = {}
    for (const envelope of toLog(all) as Envelope[]) {
      participants.apply(envelope)
      for (const { id, from, agent } of chats.apply(envelope))
        found[envelope.seq ?? 0] = `${id} of ${from}: ${agent}`
    }
    return found
  }

  interface Lossy extends State {
    readonly kinds?: Kinds
  }

  const presence = (id: string, event: string, session?: string): Fields => ({
    kind: 'system.presence',
    from: GATEWAY,
    payload: { event, participant: { id }, ...(session && { session: { id: 's1', event: session } }) },
  })
  const ended = (id: string): Fields[] => [presence(id, 'update', 'ended'), presence(id, 'leave')]
  const question = chat('ana', 'why?')
  const one = { ana: 'human', bot: 'agent', files: 'mcp' } as const

  test('when its only agent has ended without a run about it', () => {
    expect(lost([question, ...ended('bot')], { kinds: one })).toEqual({ 3: 'e1 of ana: bot' })
    expect(lost([question, ...ended('bot').reverse()], { kinds: one })).toEqual({ 3: 'e1 of ana: bot' })
    expect(lost([question, presence('bot', 'update', 'replaced')], { kinds: one })).toEqual({
      2: 'e1 of ana: bot',
    })
  })

  test('in a replay, though the participants are those of its end', () => {
    const joins = [presence('bot', 'join'), question, ...ended('bot')]
    expect(lost([...joins, presence('bot', 'join')], { kinds: one, head: 9 })).toEqual({
      4: 'e2 of ana: bot',
    })
    expect(lost(joins, { kinds: one, head: 9, away: ['bot'] })).toEqual({ 4: 'e2 of ana: bot' })
  })

  test('when all agents have, or the front desk', () => {
    expect(lost([question, ...ended('bot')])).toEqual({})
    expect(lost([question, ...ended('bot'), ...ended('aide')])).toEqual({ 5: 'e1 of ana: aide' })
    expect(lost([question, ...ended('bot')], { frontDesk: 'bot' })).toEqual({ 3: 'e1 of ana: bot' })
    expect(lost([question, ...ended('aide')], { frontDesk: 'bot' })).toEqual({})
  })

  test('when those whom it names have, and not when a person has left', () => {
    const both = chat('ana', 'why?', { payload: { mentions: ['bot', 'aide'] } })
    expect(lost([both, ...ended('bot'), ...ended('aide')])).toEqual({ 5: 'e1 of ana: aide' })
    expect(lost([chat('bot', 'why?', { to: ['ana'] }), ...ended('ana')])).toEqual({})
  })

  test('when the run about it ends with its program, but not when someone asks that to stop', () => {
    const run = [question, start('bot', 'hm', about('e1')), start('aide', 'hm', about('e1'))]
    const end = (context: string): Fields => cancel(GATEWAY, context, 'program-ended')
    expect(lost([...run, cancel('ana', 'e2'), end('e3'), end('e2')])).toEqual({ 6: 'e1 of ana: bot' })
  })

  test('not when it was answered, taken back or asked later, or the program only lost its connection', () => {
    const name = { kinds: one }
    expect(lost([question, chat('bot', 'so', about('e1')), ...ended('bot')], name)).toEqual({})
    const retraction = { kind: 'chat.cancel', from: 'ana', ...about('e1') }
    expect(lost([question, retraction, ...ended('bot')], name)).toEqual({})
    expect(lost([...ended('bot'), question], name)).toEqual({})
    expect(lost([question, presence('bot', 'leave'), presence('bot', 'join')], name)).toEqual({})
  })

  test('when it was handed over, and the program of the new addressee has ended', () => {
    const handOver = chat('bot', 'for you', {
      ...about('e1'),
      payload: { mentions: ['aide'], handOver: true },
    })
    const asked = [chat('ana', 'why?', { payload: { mentions: ['bot'] } }), handOver]
    expect(lost([...asked, ...ended('bot')])).toEqual({})
    expect(lost([...asked, ...ended('aide')])).toEqual({ 4: 'e1 of ana: aide' })
    expect(lost([...asked, chat('aide', 'so', { ...about('e2') }), ...ended('aide')])).toEqual({})
  })
})
