import type { LogStore } from '@meup/gateway'
import { expect } from 'vitest'
import { ofKind, range } from './client.js'
import { begin, call, conclude, result, stage, thought } from './turns.js'

export const calls = 40

interface Page {
  readonly steps: readonly { readonly content: string; readonly phase: string }[]
}

/**
 * Lets an agent send a thought and a call at once, repeatedly. When the tool gets the call, the audit must have the thought.
 */
export async function findThoughtsInTime(store: LogStore): Promise<void> {
  const { connect, as, post } = await stage({ store })
  const [ben, tool] = [await connect('ben'), await connect('tool')]
  await ben.accepted(begin('run', undefined, 'begin'))
  let found = 0
  for (const count of range(1, calls)) {
    // The thought is sent without waiting, so that the call follows at once.
    ben.send(thought('run', `[思考] look at ${count} [計画] read ${count}`))
    ben.send(call(`c${count}`, 'run', 'read', `to know ${count}`))
    const { id } = await tool.next(ofKind('mcp.request'))
    const { steps } = (await as('tool').json('/audit?limit=2')) as Page
    expect([id, steps]).toMatchObject([
      `c${count}`,
      [
        { phase: 'plan', content: `read ${count}` },
        { phase: 'thinking', content: `look at ${count}` },
      ],
    ])
    found++
    expect((await post('tool', result(id, 'read'))).status).toBe(201)
  }
  expect(found).toBe(calls)
  await ben.accepted(conclude('run'))
}
