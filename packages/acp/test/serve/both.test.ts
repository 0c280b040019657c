import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { shell, startCoder } from '../support/coder.js'
import { choose } from '../support/editor.js'
import { openEditor } from '../support/stage.js'

test('a coding agent of the space is asked from an editor, and asks its user there', async () => {
  const { ana, cwd } = await startCoder()
  const { editor } = await openEditor(ana, { to: 'coder' })
  const { sessionId } = await editor.begin()
  const path = join(cwd, 'made.txt')
  const command = `touch ${path}`
  const content = [{ type: 'diff', path, oldText: null, newText: 'new' }]
  const plan = [{ content: 'make it', priority: 'high', status: 'in_progress' }]
  const steps = [
    ['thought', 'Let me make it.\n'],
    ['update', { sessionUpdate: 'plan', entries: plan }],
    ['call', { toolCallId: 'c1', status: 'pending', rawInput: { command } }],
    ['ask', shell('c1', command)],
    ['when', 'yes', [['write', path, 'new']]],
    ['progress', { toolCallId: 'c1', status: 'completed', content }],
    ['text', 'It is made.'],
  ]
  editor.decide = () => choose('allow_once')
  expect(await editor.prompt(sessionId, JSON.stringify(steps))).toEqual({ stopReason: 'end_turn' })
  expect(existsSync(path)).toBe(true)
  expect(editor.shown.filter((each) => !each.startsWith('says: '))).toEqual([
    'thinks: Let me make it.',
    'plan: make it in_progress',
    `coder/execute ${JSON.stringify({ command })} pending: coder asks: no reason given`,
    '… in_progress: coder asks: no reason given | approved by ana',
    `… completed: coder asks: no reason given | approved by ana | ${path}`,
  ])
  expect(editor.said).toBe('It is made.')
  expect(editor.updates.find((each) => each.sessionUpdate === 'tool_call')).toMatchObject({
    title: 'coder/execute',
    kind: 'execute',
  })
})
