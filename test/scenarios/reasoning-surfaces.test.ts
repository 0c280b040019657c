import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { meup, temporaryFolder } from '../support/cli.js'
import { runSpace } from '../support/space.js'
import { verifies } from '../verifies.js'

const config = (storage: string) => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
storage: ${storage}
participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: agent, capabilities: [chat, "reasoning.*", mcp.request] }
  tools: { kind: agent, capabilities: [mcp.response] }
`
const call = (id: string, name: string, more: object, args: object = {}) => ({
  id,
  kind: 'mcp.request',
  to: ['tools'],
  context: 'run',
  payload: { method: 'tools/call', params: { name, arguments: args } },
  ...more,
})
const gives = (correlationId: string, result: object) => ({
  kind: 'mcp.response',
  correlationId,
  payload: { result },
})

/** The story: a turn with two tools, and one without. */
const story: readonly [from: string, envelope: object][] = [
  ['ana', { id: 'q1', kind: 'chat', payload: { message: 'what is new?' } }],
  ['bot', { id: 'run', kind: 'reasoning.start', correlationId: 'q1' }],
  ['bot', { kind: 'reasoning.thought', context: 'run', payload: { message: 'I look in memory first.' } }],
  ['bot', call('c1', 'memory_search', { rationale: 'to find it' }, { query: 'news', token: 'hunter2' })],
  ['tools', gives('c1', { content: [{ type: 'text', text: 'Found 3 documents' }] })],
  ['bot', call('c2', 'shell', {})],
  ['tools', gives('c2', { isError: true, content: [{ type: 'text', text: 'no such command' }] })],
  ['bot', { kind: 'reasoning.conclusion', context: 'run' }],
  ['bot', { kind: 'chat', correlationId: 'q1', payload: { message: 'Three documents.' } }],
  ['ana', { id: 'q2', kind: 'chat', payload: { message: 'thanks' } }],
  ['bot', { kind: 'chat', correlationId: 'q2', payload: { message: 'You are welcome!' } }],
]

/** Reads the first events of a stream. */
async function firstEvents(response: Response, count: number): Promise<Record<string, unknown>[]> {
  const events: Record<string, unknown>[] = []
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    events.length = 0
    for (const event of text.split('\n\n').slice(0, -1)) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (/^event: reasoning_update$/m.test(event) && data) events.push(JSON.parse(data))
    }
    if (events.length >= count) break
  }
  return events
}

// The expected texts were written by hand.
const decisions = [
  {
    tool_name: 'memory_search',
    rationale: 'to find it',
    parameters: { query: 'news', token: '[redacted]' },
    outcome: 'success',
    parallel_group: null,
  },
  {
    tool_name: 'shell',
    rationale: 'Tool selected to satisfy the current subtask.',
    rationale_given: false,
    parameters: {},
    outcome: 'error',
    parallel_group: null,
  },
]

for (const storage of ['{ kind: memory }', '{ kind: sqlite, path: space.db }']) {
  verifies(
    ['I06', 'I23', 'I41'],
    `reasoning is called so over HTTP, in events and at the terminal, with the storage ${storage}`,
    async () => {
      const cwd = temporaryFolder({ 'space.yaml': config(storage) })
      const { url } = await runSpace(cwd)
      const headers = (id: string) => ({
        authorization: `Bearer ${readFileSync(join(cwd, '.meup/tokens', id), 'utf8').trim()}`,
      })
      const get = (path: string) => fetch(`${url}/spaces/demo/${path}`, { headers: headers('ana') })
      for (const [from, envelope] of story) {
        const { status } = await fetch(`${url}/spaces/demo/envelopes`, {
          method: 'POST',
          headers: { ...headers(from), 'content-type': 'application/json' },
          body: JSON.stringify(envelope),
        })
        expect([envelope, status]).toEqual([envelope, 201])
      }

      const { turns } = (await (await get('turns?thread_id=demo/bot')).json()) as { turns: object[] }
      expect(turns).toMatchObject([
        {
          turn_number: 1,
          user_input: 'what is new?',
          response: 'Three documents.',
          state: 'completed',
          tool_calls: [
            { name: 'memory_search', has_result: true, has_error: false },
            { name: 'shell', has_result: false, has_error: true },
          ],
          reasoning: {
            thread_id: 'demo/bot',
            turn_number: 1,
            narrative: 'I look in memory first.',
            tool_decisions: decisions,
          },
        },
        { turn_number: 2, response: 'You are welcome!', tool_calls: [], reasoning: null },
      ])

      const events = await firstEvents(await get('events?after=0'), 2)
      const received = decisions.map(({ parameters: _, ...decision }) => decision)
      expect(events).toMatchObject([
        { type: 'reasoning_update', turn_number: 1, tool_decisions: received.slice(0, 1) },
        { type: 'reasoning_update', narrative: 'I look in memory first.', tool_decisions: received },
      ])

      const typed = (...args: string[]) => meup(['reasoning', ...args, '--thread', 'bot'], { cwd })
      expect(await typed('1')).toEqual({
        code: 0,
        stderr: '',
        stdout: `  ┄ Reasoning — thread demo/bot, turn 1
  Narrative: "I look in memory first."

  ┄ memory_search
    rationale: "to find it"
    params:    { "query": "news", "token": "[redacted]" }
    outcome:   3 documents found

  ┄ shell
    rationale: no reason given
    params:    {}
    outcome:   error
`,
      })
      expect((await typed('2')).stdout).toBe('  ─ Turn 2 had no tool calls.\n')
      expect((await typed('3')).stderr).toBe('  ✗ No reasoning data for turn 3 in this thread.\n')
      expect((await typed('all')).stdout).toContain('Reasoning — thread demo/bot, turn 1')
    },
    { timeout: 60_000 },
  )
}
