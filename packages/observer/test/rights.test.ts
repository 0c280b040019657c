import { GrantIndex } from '@meup/observer/model'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { explainRight } from '../src/model/capability-help.js'
import { Script } from './support.js'

function calls(): Script {
  const script = new Script()
  const participants = { ana: { capabilities: ['*'] }, bot: { capabilities: ['chat', { tool: 'tools/*' }] } }
  script.say({ from: 'system:gateway', kind: 'system.space', payload: { event: 'configured', participants } })
  const payload = { recipient: 'bot', capabilities: ['mcp.*'] }
  script.say({ id: 'g1', from: 'ana', kind: 'capability.grant', payload })
  script.start('bot', 'on it', { id: 'run' })
  script.call('bot', 'run', 'look', { id: 'c1', allowedBy: 'configured' })
  script.call('bot', 'run', 'write', { id: 'c2', allowedBy: 'g1' })
  script.propose('bot', 'run', 'drop')
  script.call('ana', 'run', 'drop', { id: 'c3', correlationId: 'e6', allowedBy: 'configured' })
  return script
}

const ids = ['c1', 'c2', 'c3']
const whole = ['by space.yaml: tools/*', "by ana's grant", 'approved by ana, who may do so by space.yaml: *']

/** Explains which right allowed each call, with only the log from this index on. `earlier`: older grants, read separately. */
function wordsFrom(first: number, earlier: readonly Envelope[] = []) {
  const { envelopes } = calls()
  const script = new Script()
  script.envelopes.push(...envelopes.slice(first))
  const { log } = script.read()
  const rights = new GrantIndex(log)
  rights.setEarlier(earlier)
  const requests = ids.flatMap((id) => log.get(id) ?? [])
  return {
    words: requests.map((request) => explainRight(request, rights)),
    areLoaded: requests.map((request) => rights.isLoaded(request)),
  }
}

describe('which right let a call pass', () => {
  test('is read from the loaded log', () => {
    expect(wordsFrom(0)).toEqual({ words: whole, areLoaded: [true, true, true] })
  })

  test('is named as far as it is loaded, and wholly with what was read of the log before it', () => {
    const part = ['by space.yaml', 'by the grant g1', 'approved by ana, who may do so by space.yaml']
    expect(wordsFrom(2)).toEqual({ words: part, areLoaded: [false, false, false] })
    expect(wordsFrom(2, calls().envelopes.slice(0, 2))).toEqual({
      words: whole,
      areLoaded: [true, true, true],
    })
  })

  test('is named without a capability for a call that is loaded in part', () => {
    const script = calls()
    const args = { path: 'a.ts', text: 'x'.repeat(100_000) }
    const payload = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'write', arguments: args } }
    const { id } = script.call('bot', 'run', 'write', { payload, allowedBy: 'configured' })
    const { log } = script.read()
    const request = log.get(id) as Envelope
    expect(explainRight(request, new GrantIndex(log))).toBe('by space.yaml')
  })

  test('is left out if the envelope does not say', () => {
    const script = calls()
    const { id } = script.call('bot', 'run', 'look')
    const { log } = script.read()
    expect(explainRight(log.get(id) as Envelope, new GrantIndex(log))).toBeUndefined()
  })
})
