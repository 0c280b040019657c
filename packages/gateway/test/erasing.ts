import type { LogStore } from '@meup/gateway'
import { testToken } from '@meup/gateway/testing'
import type { Client, Sent } from './client.js'
import { asking } from './http-client.js'
import { type StartOptions, start } from './support.js'

/** The text that must not be found after the erasure: every envelope of `tellEverything` contains it. */
export const needle = 'hunter2-tango-foxtrot'

export const participants = {
  ana: ['*'],
  ben: ['*'],
  tool: ['*'],
  eve: ['*', 'space.erase', 'observe.targeted'],
}

/** A space with three clients, and functions by which `eve` erases envelopes. */
export async function erasable(options: Partial<StartOptions> & { store?: LogStore } = {}) {
  const running = await start({ participants, ...options })
  const [ana, ben, tool] = [
    await running.connect('ana'),
    await running.connect('ben'),
    await running.connect('tool'),
  ]
  return { ...running, ana, ben, tool, erase: (body: unknown, by = 'eve') => erase(running.url, body, by) }
}

export async function erase(url: string, body: unknown, by = 'eve') {
  const response = await fetch(`${url}/spaces/test/audit/erase`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testToken(by)}` },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const payload = { message: `so ${needle} it is` }
const call = {
  jsonrpc: '2.0',
  id: needle,
  method: 'tools/call',
  params: { name: 'look_up', arguments: { word: needle } },
}
const result = { jsonrpc: '2.0', id: needle, result: { content: [{ type: 'text', text: needle }] } }

/**
 * Sends an envelope with the needle of every kind that may be erased, in a turn of ben. A second turn, without it, follows.
 * Returns the seqs and the envelopes with the needle.
 */
export async function tellEverything(by: Record<'ana' | 'ben' | 'tool', Client>) {
  const { ana, ben, tool } = by
  const said: (readonly [Client, Sent])[] = [
    [ana, { id: 'q1', kind: 'chat', to: ['ben'], payload }],
    [ben, { id: 'ack', kind: 'chat.acknowledge', correlationId: 'q1', payload: { status: needle } }],
    [ben, { id: 'run1', kind: 'reasoning.start', correlationId: 'q1', payload }],
    [ben, { id: 't1', kind: 'reasoning.thought', context: 'run1', payload: { ...payload, phase: 'plan' } }],
    [ben, { id: 'odd', kind: 'reasoning.aside', context: 'run1', payload }],
    [ben, { id: 'c1', kind: 'mcp.request', to: ['tool'], context: 'run1', rationale: needle, payload: call }],
    [tool, { id: 'r1', kind: 'mcp.response', to: ['ben'], correlationId: 'c1', payload: result }],
    [ben, { id: 'p1', kind: 'mcp.proposal', to: ['tool'], context: 'run1', payload: proposed }],
    [
      ana,
      { id: 'no', kind: 'mcp.reject', correlationId: 'p1', payload: { reason: needle, message: needle } },
    ],
    [ben, { id: 'end1', kind: 'reasoning.conclusion', context: 'run1', payload }],
    [ben, { id: 'a1', kind: 'chat', to: ['ana'], correlationId: 'q1', payload }],
    [ana, { id: 'undo', kind: 'chat.cancel', correlationId: 'q1', payload: { reason: needle } }],
    [ana, { id: 'open', kind: 'mcp.proposal', to: ['tool'], payload: proposed }],
    [ben, { id: 'own', kind: 'deploy.note', context: 'run1', payload }],
    [ben, { id: 'status', kind: 'participant.status', payload: { status: needle, message: needle } }],
    [ana, { id: 'clear', kind: 'participant.clear', to: ['ben'], payload: { reason: needle } }],
  ]
  const seqs: number[] = []
  for (const [client, sent] of said) seqs.push((await client.accepted(sent)).seq)
  await ana.accepted({ id: 'q2', kind: 'chat', payload: { message: 'and now?' } })
  await ben.accepted({ id: 'a2', kind: 'chat', correlationId: 'q2', payload: { message: 'nothing' } })
  return { seqs, sent: said.map(([, each]) => each) }
}

export const proposed = { method: 'tools/call', params: { name: 'look_up', arguments: { word: needle } } }

/** Every view of a space that this participant can request, as text by its name. */
export async function viewsOf(url: string, participant = 'eve'): Promise<Record<string, string>> {
  const { get } = asking(url, participant)
  const paths = [
    ...['', 'order=desc', 'context=run1', 'kind=chat', 'from=ben', 'correlationId=q1'].map(
      (query) => `/envelopes?limit=1000&${query}`,
    ),
    ...['ana', 'ben', 'tool'].map((agent) => `/turns?thread_id=test/${agent}`),
    '/audit?limit=1000',
    `/search?text=${needle}`,
    '/search?text=so',
    '/audit/export',
    '/audit/export?format=markdown',
    '/contexts',
    '/contexts/run1',
    '/contexts/run1?format=markdown',
    '/participants',
  ]
  const views: Record<string, string> = {}
  for (const path of paths) {
    const response = await get(path)
    views[path] = `${response.status} ${await response.text()}`
  }
  return views
}
