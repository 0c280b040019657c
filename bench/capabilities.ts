import { type Capability, compileCapabilities, type Subject } from '@meup/protocol'
import { compare } from './compare.js'

/** Measures a capability check: one participant holds 20 capabilities with payload patterns. */
const held: Capability[] = Array.from({ length: 20 }, (_, i) => ({
  kind: 'mcp.request',
  to: `server-${i}`,
  payload: {
    method: 'tools/call',
    params: { name: [`read_${i}_*`, '!read_secret*'], arguments: { path: `/srv/${i}/**` } },
  },
}))
/** Capabilities for the same target, so that a check cannot rule any out before its payload pattern. */
const alike: Capability[] = held.map(
  (capability) => ({ ...(capability as object), to: 'server-0' }) as Capability,
)

const call = (i: number): Subject => ({
  kind: 'mcp.request',
  to: [`server-${i}`],
  payload: {
    jsonrpc: '2.0',
    method: 'tools/call',
    params: { name: `read_${i}_file`, arguments: { path: `/srv/${i}/a/b.txt` } },
  },
})
const alikeCall: Subject = { ...call(19), to: ['server-0'] }
const frame = Buffer.from(
  JSON.stringify({ id: 'x'.repeat(21), ...call(19), context: 'y'.repeat(21), rationale: 'z'.repeat(60) }),
)

const denied: Subject = {
  ...alikeCall,
  payload: { method: 'tools/call', params: { name: 'write_file', arguments: {} } },
}
const chat: Subject = { kind: 'chat', payload: { message: 'hello' } }

const alone = Array.from({ length: 1000 }, (_, i) => compileCapabilities([...held, `space.own-${i}`]))
/** 1,000 capability lists that share no pattern, each with a call that the list allows. */
const strangers = Array.from({ length: 1000 }, (_, owner) => ({
  capabilities: compileCapabilities(
    Array.from({ length: 20 }, (_, i) => ({
      kind: 'mcp.request',
      to: `server-${owner}-${i}`,
      payload: {
        method: 'tools/call',
        params: {
          name: [`read_${owner}_${i}_*`, `!read_${owner}_secret*`],
          arguments: { path: `/srv/${owner}/${i}/**` },
        },
      },
    })),
  ),
  subject: {
    kind: 'mcp.request',
    to: [`server-${owner}-${owner % 20}`],
    payload: {
      jsonrpc: '2.0',
      method: 'tools/call',
      params: {
        name: `read_${owner}_${owner % 20}_file`,
        arguments: { path: `/srv/${owner}/${owner % 20}/a/b.txt` },
      },
    },
  },
}))
function ask(): unknown {
  const { capabilities, subject } = strangers[turn++ % 1000] ?? {}
  return subject && capabilities?.allows(subject)
}

const mine = compileCapabilities(held)
const same = compileCapabilities(alike)
const calls = Array.from({ length: 64 }, (_, i) => call(i % 20))
let turn = 0
const next = (): Subject => calls[turn++ & 63] as Subject

await compare('a capability check', [
  ['JSON.parse of the frame, for comparison', () => JSON.parse(frame.toString())],
  ['20 capabilities, a target each: allowed', () => mine.allows(next())],
  ['20 capabilities, one target: the last allows', () => same.allows(alikeCall)],
  ['20 capabilities: denied', () => same.allows(denied)],
  ['1,000 lists with nothing in common, by turns', ask],
  // Uses the lists in turn, so that the caches of the processor no longer have a list: the additional time is cache misses.
  ['1,000 other lists, by turns', () => alone[turn++ % 1000]?.allows(calls[0] as Subject)],
  ['chat: no capability of its kind', () => mine.allows(chat)],
])
