import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { byKind } from '../support/record-envelopes.js'
import { adding, answering, getPrompt, type Stage, stage } from './stage.js'

/** Bot may list tools and propose calls, but not call. */
const capabilities = [
  'chat',
  'reasoning.*',
  'mcp.proposal',
  'mcp.withdraw',
  { kind: 'mcp.request', to: 'desk', payload: { method: 'tools/list' } },
]
const script = [adding({ _rationale: 'to know', a: 2, b: 3 }), answering('So be it.')]
const getToolResult = ({ model }: Stage): unknown => getPrompt(model, 1).at(-1)?.content

test('a call that the agent may not make is proposed, and who approved it is told to the model', async () => {
  await using here = await stage(script, { capabilities })
  const answer = here.ask()
  const proposal = await here.heard.until(byKind(Kind.mcpProposal))
  expect(proposal).toMatchObject({ rationale: 'to know', to: ['desk'], context: expect.any(String) })
  await here.ana.proposals.approve(proposal.id)
  expect(await answer).toBe('So be it.')
  expect(getToolResult(here)).toMatchObject([{ output: { type: 'text', value: 'Approved by ana.\n5' } }])
})

test('a rejection is told to the model, with its reason', async () => {
  await using here = await stage(script, { capabilities })
  const answer = here.ask()
  const { id } = await here.heard.until(byKind(Kind.mcpProposal))
  await here.ana.proposals.reject(id, { reason: 'unsafe', message: 'use your head' })
  expect(await answer).toBe('So be it.')
  const value = 'This needed an approval, and got none: rejected by ana: unsafe (use your head)'
  expect(getToolResult(here)).toMatchObject([{ output: { type: 'error-text', value } }])
})

test('a proposal that nobody decides on is over in time', async () => {
  await using here = await stage(script, { capabilities, limits: { approvalMs: 2000 } })
  expect(await here.ask()).toBe('So be it.')
  const value = 'This needed an approval, and got none: the proposal was not approved in time'
  expect(getToolResult(here)).toMatchObject([{ output: { type: 'error-text', value } }])
})
