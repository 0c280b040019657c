import { expect, test } from 'vitest'
import { listAway } from '../src/lib/away.js'

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
