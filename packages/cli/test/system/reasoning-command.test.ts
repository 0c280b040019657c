import { describe, expect, test } from 'vitest'
import { meup } from '../../../../test/support/cli.js'
import { verifies } from '../../../../test/verifies.js'
import { answering } from '../support/answering.js'
import { createTurn, envelope } from '../support/turns.js'

/** Fields of special turns: two without tools, one of them truncated, and one that is running. */
const special: Readonly<Record<number, object>> = {
  5: { tool_calls: [], reasoning: null },
  6: { tool_calls: [], reasoning: null, truncated: true },
  12: { state: 'running' },
}

/** Runs `meup reasoning` with a fake gateway: 12 turns of `bot`, the last one running, up to 5 per page. */
async function reasoning(...args: string[]) {
  const turns = Array.from({ length: 12 }, (_, at) => createTurn(at + 1, special[at + 1]))
  const { url } = await answering(({ pathname, searchParams }) => {
    if (pathname.endsWith('/envelopes')) {
      const answer = { correlationId: 'e1', payload: { message: 'because' } }
      const envelopes = [envelope(3, 'chat', 'ana'), envelope(2, 'chat', 'bot', answer)]
      return { body: { envelopes, has_more: false } }
    }
    if (searchParams.get('thread_id') !== 'demo/bot') {
      return { status: 404, body: { code: 'not_found', detail: 'nobody has turns in such a thread' } }
    }
    const before = Number(searchParams.get('before') ?? 13)
    const limit = Math.min(Number(searchParams.get('limit')), 5)
    const page = turns.slice(0, before - 1).slice(-limit)
    const first = page[0]?.turn_number ?? 1
    return { body: { thread_id: 'demo/bot', turns: page, ...(first > 1 && { has_more: true, next: first }) } }
  })
  return meup(['reasoning', ...args, '--url', url, '--space', 'demo'], { env: { MEUP_TOKEN: 'x' } })
}

const detail = (header: string) => `  ┄ Reasoning — ${header}

  ┄ read
    rationale: "to know"
    params:    {}
    outcome:   success
`

describe('meup reasoning', () => {
  verifies('I22', 'shows the latest turn that has ended of whoever answered last', async () => {
    expect(await reasoning()).toEqual({ code: 0, stdout: detail('turn 11'), stderr: '' })
  })

  verifies('I22', 'names the thread where one was named', async () => {
    const named = { code: 0, stdout: detail('thread demo/bot, turn 3'), stderr: '' }
    expect(await reasoning('3', '--thread', 'bot')).toEqual(named)
    expect(await reasoning('3', '--thread', 'demo/bot')).toEqual(named)
  })

  test('shows all turns in their order, from however many answers', async () => {
    const { stdout } = await reasoning('all')
    const headers = stdout.split('\n').filter((line) => line.includes('Reasoning —'))
    const numbers = [1, 2, 3, 4, 7, 8, 9, 10, 11, 12]
    expect(headers).toEqual(numbers.map((number) => `  ┄ Reasoning — thread demo/bot, turn ${number}`))
  })

  test('gives turns as JSON, one a line', async () => {
    const { code, stdout, stderr } = await reasoning('3', '--json')
    expect([code, stderr, JSON.parse(stdout)]).toEqual([0, '', createTurn(3)])
    expect((await reasoning('all', '--json')).stdout.trimEnd().split('\n')).toHaveLength(12)
  })

  verifies('I23', 'says that there is no such turn, and ends with 1', async () => {
    for (const asked of ['-1', 'abc', '13']) {
      const stderr = `  ✗ No reasoning data for turn ${asked} in this thread.\n`
      expect(await reasoning(asked)).toEqual({ code: 1, stdout: '', stderr })
      expect(await reasoning(asked, '--json')).toEqual({ code: 1, stdout: '', stderr })
    }
  })

  verifies('I23', 'says that a turn had no tools, or that what it began with is gone', async () => {
    const said = (line: string) => ({ code: 0, stdout: `${line}\n`, stderr: '' })
    expect(await reasoning('5')).toEqual(said('  ─ Turn 5 had no tool calls.'))
    expect(await reasoning('6')).toEqual(said('  ─ No reasoning recorded for turn 6.'))
  })

  test('ends with 1 where there is no such thread, with 2 where it is called wrongly', async () => {
    const unknown = await reasoning('--thread', 'nobody')
    const stderr = 'meup: nobody has turns in such a thread (not_found)\n'
    expect(unknown).toEqual({ code: 1, stdout: '', stderr })
    expect(await reasoning('1', '2')).toMatchObject({ code: 2, stdout: '' })
    expect(await reasoning('--thraed', 'bot')).toMatchObject({ code: 2, stdout: '' })
  })
})
