import type { TurnInfo } from '@meup/folds'
import { expect } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { key, mark, operatorLog } from './guarded.js'
import { rawEvents } from './reasoning-story.js'
import { begin, call, chat, conclude, result, stage, thought } from './turns.js'

const rules = [
  { name: 'example-key', pattern: 'EXK-[A-Z0-9]{12}', keywords: ['exk-'], action: 'mask' },
  { name: 'no-codes', pattern: 'launch code', action: 'block' },
] as const

/**
 * Runs a turn with this thought before a tool call, and this rationale. Returns the turn and the logged warnings; no view may
 * contain the key.
 */
async function turnWith(narrative: string, rationale: string) {
  const log = operatorLog()
  const { say, as, url } = await stage({ safety: { rules }, logger: log.logger })
  await say(
    ['ana', chat('ask', 'go')],
    ['ben', begin('run', 'ask', 'begin'), thought('run', narrative), call('one', 'run', 'look', rationale)],
    ['tool', result('one')],
    ['ben', conclude('run'), chat('is', 'done', { correlationId: 'ask' })],
    ['ana', chat('end', 'that is all')],
  )
  const { turns } = (await as('ana').json('/turns?thread_id=test/ben')) as { turns: TurnInfo[] }
  const views = [
    JSON.stringify(turns),
    (await rawEvents(url, 'auditor', { query: 'after=0' })).join(''),
    await (await as('auditor').get('/audit')).text(),
    await (await as('auditor').get('/audit/export?format=markdown')).text(),
    JSON.stringify(log.lines),
  ]
  for (const view of views) expect(view).not.toMatch(new RegExp(`${key}|launch code`))
  const warnings = log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
  return { turn: turns[0], warnings }
}

verifies('I09', 'test_reasoning_safety_block_narrative', async () => {
  const { turn, warnings } = await turnWith('the launch code is 4711', 'to see')
  expect(turn?.reasoning).toMatchObject({ narrative: null, tool_decisions: [{ rationale: 'to see' }] })
  expect(turn).toMatchObject({ state: 'completed', response: 'done' })
  expect(warnings).toEqual(['a text was withheld'])
})

verifies('I10', 'test_reasoning_safety_block_rationale_fallback', async () => {
  const { turn, warnings } = await turnWith('first I look', 'the launch code says so')
  expect(turn?.reasoning).toMatchObject({
    narrative: 'first I look',
    tool_decisions: [{ rationale: 'Tool selected to satisfy the current subtask.', rationale_given: false }],
  })
  expect(turn).toMatchObject({ state: 'completed', response: 'done' })
  expect(warnings).toEqual(['a text was withheld'])
})

verifies('I11', 'test_reasoning_safety_redact_rationale', async () => {
  const { turn, warnings } = await turnWith('first I look', `${key} opens it`)
  expect(turn?.reasoning?.tool_decisions).toMatchObject([{ rationale: `${mark} opens it` }])
  expect(warnings).toEqual([])
})
