import { expect } from 'vitest'
import { meup } from '../support/cli.js'
import { running, timeout } from '../support/guarded-gateway.js'
import { verifies } from '../verifies.js'

const inRun = (context: string) => (kind: string, fields: object) => ({ kind, context, ...fields })
const first = inRun('r1')
const second = inRun('r2')
const says = (message: string) => ({ payload: { message } })
const tool = (name: string, args: object = {}) => ({
  to: ['cas'],
  payload: { method: 'tools/call', params: { name, arguments: args } },
})
const gives = (id: string, text: string, isError = false) => ({
  kind: 'mcp.response',
  correlationId: id,
  payload: { result: { content: [{ type: 'text', text }], isError } },
})

/** The session: two turns of ana, one after the other, and a call that eve may not make. */
const session: readonly [from: string, envelope: object][] = [
  ['ben', { id: 'q1', kind: 'chat', ...says('Is it ready?') }],
  ['ana', { id: 'r1', kind: 'reasoning.start', correlationId: 'q1', ...says('Looking') }],
  ['ana', first('reasoning.thought', says('1. Read the report\n2. Decide'))],
  ['ana', first('mcp.request', { id: 'c1', rationale: 'the report decides', ...tool('read') })],
  ['eve', { id: 'x1', kind: 'mcp.request', ...tool('read') }],
  ['cas', gives('c1', 'two tests fail')],
  ['ana', first('reasoning.thought', says('[思考] They matter\n[エラー] It failed'))],
  ['ana', first('reasoning.conclusion', says('Not ready'))],
  ['ana', { kind: 'chat', correlationId: 'q1', ...says('No.') }],
  ['ben', { id: 'q2', kind: 'chat', ...says('Then mend it.') }],
  ['ana', { id: 'r2', kind: 'reasoning.start', correlationId: 'q2' }],
  ['ana', second('mcp.proposal', { id: 'p1', rationale: 'it may break', ...tool('write', { path: 'a' }) })],
  ['ben', { id: 'f1', kind: 'mcp.request', correlationId: 'p1', ...tool('write', { path: 'a' }) }],
  ['cas', gives('f1', 'disk full', true)],
  ['ana', second('reasoning.conclusion', says('It cannot be written'))],
  ['ana', { kind: 'chat', correlationId: 'q2', ...says('I could not.') }],
]

/** The expected audit, written by hand, for a reader that may not read the refusal to eve. */
const steps = [
  'ana turn 1, asked by ben  plan: 1. Read the report 2. Decide',
  'ana turn 1, asked by ben  execute: read -> two tests fail · with {} — the report decides (tool_call: c1)',
  'ana turn 1, asked by ben  thinking: They matter',
  'ana turn 1, asked by ben  error: It failed',
  'ana turn 2, asked by ben  waiting_approval: Awaiting human approval for write · with {"path":"a"} — it may break (approval: p1)',
  'ana turn 2, asked by ben  error: write -> disk full · with {"path":"a"} — it may break (tool_call: f1)',
]

verifies(
  'A21',
  'the trail of a session has every step of it, turn by turn, as it was lived',
  async () => {
    const space = await running()
    for (const [from, envelope] of session) {
      const status = await space.post(from, [envelope])
      expect([envelope, status]).toEqual([envelope, from === 'eve' ? 403 : 201])
    }
    const trailAs = async (reader: string): Promise<string[]> => {
      const { stdout } = await meup(['audit', 'trail', '--as', reader], { cwd: space.folder })
      const lines = stdout.trimEnd().split('\n')
      return lines.map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}/, ''))
    }
    expect(await trailAs('cas')).toEqual(steps)
    // A refusal is readable by its sender, and by participants that may restrict the sender.
    for (const reader of ['eve', 'ben']) {
      const [plan, refusal, ...rest] = await trailAs(reader)
      expect([plan, ...rest]).toEqual(steps)
      expect(refusal).toMatch(
        /^eve job {2}waiting_approval: Policy capability_violation: .+ \(policy: \S+\)$/,
      )
    }

    const { steps: received } = (await (await space.get('audit')).json()) as { steps: object[] }
    expect(received.toReversed()).toMatchObject([
      { thread_id: 'demo/ana', turn_number: 1, step_number: 0, phase: 'plan' },
      { thread_id: 'demo/eve', phase: 'waiting_approval' },
      { turn_number: 1, step_number: 1, content: 'read -> two tests fail', linked_tool_call: 'c1' },
      { turn_number: 1, step_number: 2, phase: 'thinking' },
      { turn_number: 1, step_number: 3, phase: 'error' },
      { turn_number: 2, step_number: 0, linked_approval_request: 'p1' },
      { turn_number: 2, step_number: 1, content: 'write -> disk full', linked_tool_call: 'f1' },
    ])
    await space.stop()
  },
  { timeout },
)
