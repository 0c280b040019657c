import { expect, test } from 'vitest'
import { describeFailures, listAway } from '../src/lib/away.js'

const seat = (id: string, kind: string, status: 'present' | 'away') => ({
  id,
  kind,
  status,
  capabilities: [],
})
const others = [
  seat('ana', 'human', 'present'),
  seat('bot', 'agent', 'away'),
  seat('files', 'mcp', 'present'),
]
const aide = seat('aide', 'agent', 'present')

test.each([
  ['everyone, and none but a tool server is here', [], others, ['bot']],
  ['everyone, and another one is here', [], [...others, aide], []],
  ['one that is away', ['bot'], [...others, aide], ['bot']],
  ['two, of whom one is away', ['bot', 'aide'], [...others, aide], ['bot']],
])('a message to %s', (_, names, participants, away) => {
  expect(listAway({ id: 'ana', participants }, names)).toEqual(away)
})

test('a program that has failed is described with what meup up knows, a starting one is not', () => {
  const broken = { ...seat('bot', 'agent', 'away'), program: { state: 'resting', count: 1 } as const }
  const slow = { ...seat('slow', 'agent', 'away'), program: { state: 'starting' } as const }
  const participants = [broken, slow]
  const report = { space: 's', participant: 'bot', state: 'resting', since: '', count: 1 }
  const known = new Map([['bot', { ...report, lastError: 'exit 1, agent.ts:4:1: no\nway' }]])
  expect([...describeFailures({ participants }, ['bot', 'slow'], known)]).toEqual([
    [
      'bot',
      'bot is resting after 1 failure: meup restart bot · exit 1, agent.ts:4:1: no way. See what it printed with meup logs bot.',
    ],
  ])
  expect([...describeFailures({ participants }, ['bot'], new Map()).values()]).toEqual([
    'bot is resting after 1 failure: meup restart bot',
  ])
  expect(describeFailures({ participants }, ['slow'], known).size).toBe(0)
})
