import { deepEqual, equal } from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import type { SpaceClient } from '@meup/agent-sdk'
import { Journal } from './journal.js'

const proposed = 'clerk mcp.proposal'
const carriedOut = 'ana mcp.request for mcp.proposal'

/**
 * Plays ana, who supervises the clerk. Throws at the first step that differs from the script. `desk`: the folder in which the
 * tools work.
 */
export async function playStory(ana: SpaceClient, desk: string): Promise<void> {
  const journal = new Journal(ana, 'clerk')
  const { proposals } = ana

  journal.chapter(
    'The clerk may call no tool. It proposes, and says why; ana agrees to one and not to the other.',
  )
  await ana.chat('Archive march.txt and april.txt, please')
  const march = await journal.proposal()
  equal(march.rationale, 'ana wants march.txt archived')
  deepEqual(readdirSync(`${desk}/inbox`), ['april.txt', 'march.txt']) // Proposed, not done yet.
  await proposals.approve(march.id)
  const april = await journal.proposal()
  await proposals.reject(april.id, { reason: 'not-paid', message: 'wait until April is paid' })
  equal(
    await journal.answer(),
    'march.txt is archived (with the leave of ana). ' +
      'april.txt stays in the inbox: rejected by ana: not-paid (wait until April is paid).',
  )
  deepEqual(readdirSync(`${desk}/inbox`), ['april.txt'])
  deepEqual(journal.acts, [
    proposed,
    carriedOut,
    proposed,
    'ana mcp.reject for mcp.proposal',
    'clerk mcp.withdraw for mcp.proposal', // The clerk withdraws it, so that it cannot be approved later.
  ])

  journal.chapter('To look into the inbox is harmless. Ana agrees, and allows it from now on.')
  await ana.chat('What is in the inbox?')
  const look = await journal.proposal()
  const grant = await proposals.allowAlways(look.id, { reason: 'looking is harmless' })
  equal(await journal.answer(), 'In the inbox: april.txt (with the leave of ana).')
  deepEqual(journal.acts, [proposed, carriedOut, 'ana capability.grant'])
  const lookAtFiles = { method: 'tools/call', params: { name: 'list_directory' } }
  deepEqual(grant.capabilities, [{ kind: 'mcp.request', to: 'files', payload: lookAtFiles }])

  journal.chapter('The clerk no longer asks: it calls the tool itself.')
  await ana.chat('What is in the inbox?')
  equal(await journal.answer(), 'In the inbox: april.txt.')
  deepEqual(journal.acts, ['clerk mcp.request'])

  journal.chapter('That was for one tool. Every other is still proposed.')
  await ana.chat('April is paid. Archive april.txt, please')
  await proposals.approve((await journal.proposal()).id)
  equal(await journal.answer(), 'april.txt is archived (with the leave of ana).')
  deepEqual(journal.acts, [proposed, carriedOut])

  journal.chapter('Ana takes it back, and the clerk proposes again.')
  await ana.revoke(grant, 'the story is over')
  await ana.chat('What is in the inbox?')
  await proposals.approve((await journal.proposal()).id)
  equal(await journal.answer(), 'In the inbox: nothing (with the leave of ana).')
  deepEqual(journal.acts, ['ana capability.revoke', proposed, carriedOut])
}
