import { expect } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { ofKind, range } from './client.js'
import { begin, call, conclude, result, stage, stores, thought } from './turns.js'

const calls = 40

interface Page {
  readonly steps: readonly { readonly content: string; readonly phase: string }[]
}

for (const kind of ['memory', 'SQLite'] as const) {
  verifies(
    'A11',
    `a tool that gets its request finds in the audit what was thought before, ${calls} times of ${calls}: ${kind}`,
    async () => {
      const { connect, as, post } = await stage({ store: await stores[kind]() })
      const [ben, tool] = [await connect('ben'), await connect('tool')]
      await ben.accepted(begin('run', undefined, 'begin'))
      let found = 0
      for (const count of range(1, calls)) {
        // Not waited for: the request follows at once.
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
    },
  )
}
