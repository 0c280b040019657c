import type { Capability } from '@meup/protocol'
import { expect, test } from 'vitest'
import { findCapabilityWarnings } from '../src/lib/capabilities.js'

const running = (command: string | string[]): Capability => ({ tool: 'shell/run', arguments: { command } })

test('a glob over a command of a shell is warned of, however the call is written', () => {
  const params = { name: 'run', arguments: { command: 'npm test*' } }
  const call: Capability = { kind: 'mcp.request', to: 'shell', payload: { method: 'tools/call', params } }
  for (const capability of [running('npm test*'), call]) {
    expect(findCapabilityWarnings([capability])).toEqual([
      expect.stringContaining('"npm test*" also allows "npm test; rm -rf ."'),
    ])
  }
  expect(findCapabilityWarnings([running(['ls', 'git ?', 'npm **'])])).toHaveLength(2)
})

test('whole commands, regular expressions and exclusions are not warned of', () => {
  const fine = [running('npm test'), running(['re:npm (test|lint)', '!rm *', '\\*']), running('/^ls/')]
  expect(
    findCapabilityWarnings([...fine, 'chat', { tool: 'files/*', arguments: { path: 'src/*' } }]),
  ).toEqual([])
})
