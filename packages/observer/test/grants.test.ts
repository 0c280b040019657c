import { GrantIndex, readCapabilities } from '@meup/observer/model'
import type { Capability, Envelope, ParticipantInfo } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { Script } from './support.js'

const now = Date.UTC(2026, 0, 1, 13)
const toFiles: Capability = { kind: 'mcp.request', to: 'files' }
const held = (capabilities: Readonly<Record<string, Capability[]>>): ParticipantInfo[] =>
  Object.entries(capabilities).map(([id, list]) => ({ id, capabilities: list, status: 'present' }))

function given(): Script {
  const script = new Script()
  const participants = { ana: { capabilities: ['*'] }, bot: { capabilities: ['chat'] } }
  script.say({ from: 'system:gateway', kind: 'system.space', payload: { event: 'configured', participants } })
  script.say({
    from: 'ana',
    kind: 'capability.grant',
    payload: { recipient: 'bot', capabilities: [toFiles], reason: 'for today' },
  })
  return script
}

describe('who was given what', () => {
  const people = held({ ana: ['*'], bot: ['chat', toFiles] })

  test('is read from the log, and followed', () => {
    const script = given()
    const model = script.read()
    const trust = new GrantIndex(model.log)
    expect(trust.getCapabilities('bot', people, now)).toMatchObject({
      configured: ['chat'],
      grants: [{ id: 'e2', grantor: 'ana', reason: 'for today' }],
      others: [],
    })
    script.say({ from: 'ana', kind: 'capability.revoke', payload: { recipient: 'bot', grantId: 'e2' } })
    model.append(script.envelopes, 0)
    expect(trust.getCapabilities('bot', held({ bot: ['chat'] }), now)).toMatchObject({
      grants: [],
      others: [],
    })
    expect(trust.getCapabilities('nobody', people, now)).toBeUndefined()
  })

  test('may have been told before all that was loaded, and is told once', () => {
    const script = given()
    for (let count = 0; count < 10; count++) script.chat('ana', 'later')
    const { envelopes } = script
    const later = new Script()
    later.envelopes.push(...envelopes.slice(5))
    const model = later.read()
    const trust = new GrantIndex(model.log)
    expect(trust.getCapabilities('bot', people, now)).toMatchObject({ grants: [] })
    trust.setEarlier(envelopes.filter(({ kind }: Envelope) => kind !== 'chat'))
    expect(trust.getCapabilities('bot', people, now)?.grants).toHaveLength(1)
    model.merge(envelopes.slice(0, 5))
    expect(trust.getCapabilities('bot', people, now)?.grants).toHaveLength(1)
  })
})

describe('capabilities', () => {
  test('are written as kinds or JSON, one a line', () => {
    expect(readCapabilities(' chat \n\n{"kind":"mcp.*","to":"files"}\n')).toEqual([
      'chat',
      { kind: 'mcp.*', to: 'files' },
    ])
    expect(readCapabilities('  ')).toEqual([])
    expect(() => readCapabilities('chat\n{"kind":')).toThrow('line 2 is neither a kind nor JSON')
  })
})

test('what has blanks in it is no kind', () => {
  expect(readCapabilities('chat\n{"kind":"mcp.*"}')).toEqual(['chat', { kind: 'mcp.*' }])
  expect(() => readCapabilities('chat\nnonsense here')).toThrow(
    /line 2: "nonsense here" is neither a kind nor JSON/,
  )
})
