import { FakeClock } from '@meup/gateway/testing'
import { describe, expect } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import type { Sent } from './client.js'
import { rawEvents } from './reasoning-story.js'
import { begin, call, chat, conclude, result, stage, type TurnPage, thought } from './turns.js'

const sixDays = 6 * 86_400_000
type Line = readonly [who: string, ...what: Sent[]]
const end = chat('end', 'that is all')
const fallback = 'Tool selected to satisfy the current subtask.'

verifies(
  'I01',
  'the reasoning of 200 turns is told whole, however long the session goes on, and goes with it',
  async () => {
    const clock = new FakeClock(Date.UTC(2026, 1, 21, 10))
    const staged = await stage({ clock })
    const why = (turn: number, at: number) => `turn ${turn}, call ${at}: `.padEnd(500, 'because ')
    for (let turn = 1; turn <= 200; turn++) {
      const calls = [1, 2, 3, 4, 5].map((at) => `t${turn}c${at}`)
      await staged.say(
        ['ana', chat(`q${turn}`, `question ${turn}`)],
        [
          'ben',
          begin(`r${turn}`, `q${turn}`, `narrative ${turn}`),
          ...calls.map((id, index) => call(id, `r${turn}`, 'look', why(turn, index + 1))),
        ],
        ['tool', ...calls.map((id) => result(id))],
        ['ben', conclude(`r${turn}`), chat(`a${turn}`, 'so', { correlationId: `q${turn}` })],
      )
      clock.advance(turn % 50 === 0 ? sixDays : 2000)
    }
    let [text, before] = ['', '']
    const received: (readonly [turn: number, narrative: string | null, rationales: readonly string[]])[] = []
    do {
      const page = (await staged.as('ana').json(`/turns?thread_id=test/ben&limit=50${before}`)) as TurnPage
      text += JSON.stringify(page.turns.map(({ reasoning }) => reasoning?.tool_decisions))
      received.unshift(
        ...page.turns.map(({ turn_number, reasoning }) => {
          const rationales = reasoning?.tool_decisions.map(({ rationale }) => rationale) ?? []
          return [turn_number, reasoning?.narrative ?? null, rationales] as const
        }),
      )
      before = page.has_more ? `&before=${page.turns[0]?.turn_number}` : ''
    } while (before !== '')
    expect(received).toEqual(
      Array.from({ length: 200 }, (_, index) => {
        const turn = index + 1
        return [turn, `narrative ${turn}`, [1, 2, 3, 4, 5].map((at) => why(turn, at))]
      }),
    )
    expect(text.length).toBeGreaterThan(500_000)
    expect(text.length).toBeLessThan(700_000)
    const next = await stage({ clock })
    expect(await next.as('ana').json('/turns?thread_id=test/ben')).toMatchObject({ turns: [] })
  },
)

describe('what is not there', () => {
  /** Returns ben's turns as the gateway's JSON, and the event `reasoning_update`, if the gateway sent one about his calls. */
  async function received(...lines: Line[]) {
    const staged = await stage()
    await staged.say(['ana', chat('q', 'why?')], ...lines, ['ana', end])
    const turns = await (await staged.as('ana').get('/turns?thread_id=test/ben')).text()
    const events = await rawEvents(staged.url, 'ana', { query: 'after=0' })
    return { turns, update: events.find((event) => event.startsWith('event: reasoning_update')) }
  }
  const silent: Line = ['ben', { ...begin('r', 'q', ''), payload: {} }, call('c', 'r', 'look', 'to see')]
  const answer: Line = ['ben', conclude('r'), chat('a', 'so', { correlationId: 'q' })]

  verifies('I38', 'a turn without tools has no narrative, whatever was thought in it', async () => {
    const { turns, update } = await received(
      ['ben', begin('r', 'q', 'Looking'), thought('r', 'Easy')],
      ['ben', conclude('r'), chat('a', 'so', { correlationId: 'q' })],
    )
    expect(turns).toContain('"user_input":"why?","response":"so","state":"completed"')
    expect(turns).toContain('"tool_calls":[],"reasoning":null')
    expect(update).toBeUndefined()
  })

  verifies(
    ['I05', 'I38'],
    'neither narrative nor group of a single call is made up: null in turns, and no key in events',
    async () => {
      const { turns, update } = await received(silent, ['tool', result('c')], answer)
      expect(turns).toMatch(
        /"turn_number":1,"narrative":null,"tool_decisions":\[\{"tool_name":"look","rationale":"to see","parameters":\{"query":"look"\},"outcome":"success","parallel_group":null,"allowed_by":"configured","right":"by space\.yaml: mcp\.\*"\}\]/,
      )
      expect(update).toMatch(
        /"turn_number":1,"tool_decisions":\[\{"tool_name":"look","rationale":"to see","outcome":"success","parallel_group":null\}\]\}\n/,
      )
    },
  )

  verifies('I05', 'a turn that goes on has neither answer nor end', async () => {
    const { turns } = await received(silent)
    expect(turns).toMatch(
      /\{"turn_number":1,"user_input":"why\?","response":null,"state":"running","started_at":"[^"]+","completed_at":null,"tool_calls":\[\{"name":"look","has_result":false,"has_error":false\}\],"reasoning":\{/,
    )
  })

  verifies('I04', 'a narrative is told as such, and is no reason of a call that has none', async () => {
    const { turns, update } = await received(
      ['ben', begin('r', 'q', ''), thought('r', 'First memory, then the file.')],
      ['ben', call('c', 'r', 'look', ''), call('d', 'r', 'read', 'to be sure')],
      ['tool', result('c'), result('d')],
      answer,
    )
    const { reasoning } = (JSON.parse(turns) as TurnPage).turns[0] ?? {}
    expect(reasoning?.narrative).toBe('First memory, then the file.')
    expect(reasoning?.tool_decisions.map(({ rationale }) => rationale)).toEqual([fallback, 'to be sure'])
    expect(update).toContain('"narrative":"First memory, then the file."')
    expect(update).toContain(`"tool_name":"look","rationale":"${fallback}"`)
    expect(`${turns}${update}`).not.toContain('"rationale":"First memory')
  })
})
