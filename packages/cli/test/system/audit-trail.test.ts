import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, test } from 'vitest'
import { openAsked, questions } from '../../../../test/support/asked.js'
import { meup } from '../../../../test/support/cli.js'
import { some } from '../../../../test/support/soak.js'
import { verifies } from '../../../../test/verifies.js'

const timeout = 60_000

/** A space in which every question is answered; `run` runs `meup` as ana. */
async function answered() {
  const { cwd, ben } = await openAsked()
  for (const question of questions) await ben.ask(question)
  return { cwd, run: (...args: string[]) => meup(args, { cwd }) }
}

/** Masks differences between runs. */
const masked = (text: string): string =>
  text
    .replace(/(?<=Turn )[0-9A-Z]{26} \([^)]*\)/g, 'ID (TIME)')
    .replace(/(?<=_call: )[\w-]+/g, 'CALL')
    .replace(/(?<=rules )[0-9a-f]{6}/, 'DIGEST')

verifies(
  'A21',
  'the Markdown of a space has every turn and step of what happened, in the same order',
  async () => {
    const { cwd, run } = await answered()
    await using aide = await connect({ as: 'aide', directory: cwd })
    const job = await aide.reason('Nobody asked for this')
    await job.thought('All is quiet')
    await job.conclude('Nothing new')
    const exported = await run('audit', 'export', '--format', 'markdown')
    const headings = [...exported.stdout.matchAll(/^## Turn \S+ \([^)]*\) (.*)$/gm)].map(([, text]) => text)
    expect(headings.filter((heading) => !heading?.startsWith('tools'))).toEqual([
      ...[1, 2, 3, 4].map((turn) => `bot, turn ${turn}, completed`),
      'aide, job, completed',
    ])
    expect(headings.filter((heading) => heading?.startsWith('tools'))).toHaveLength(5)
    expect(exported.stdout).toContain('aide begins: Nobody asked for this\n\n[思考] All is quiet')
    const asks = ['what time is it?', 'thanks', 'what is wrong?', 'search for recent project updates']
    expect([...exported.stdout.matchAll(/^ben asks: (.*)$/gm)].map(([, text]) => text)).toEqual(asks)

    const part = ['--thread', 'bot', '--turn', '3', '-o', 'turn.md']
    const written = await run('audit', 'export', '--format', 'markdown', ...part)
    expect(written).toEqual({ code: 0, stdout: '', stderr: 'turn.md is written\n' })
    const turn = readFileSync(join(cwd, 'turn.md'), 'utf8')
    expect(masked(turn)).toBe(`# Turns of demo

[思考] thinking · [計画] plan · [承認待ち] waiting for approval · [実行] executed · [エラー] error · rules DIGEST

## Turn ID (TIME) bot, turn 3, completed

ben asks: what is wrong?

bot begins

[思考] I'll look in both places.

bot calls memory_search of tools { "query": "auth design" } — "searching memory" · by space.yaml: mcp.request (tool_call: CALL)

bot calls file_read of tools { "path": "auth.ts", "token": "[redacted]" } — "reading the source" · by space.yaml: mcp.request (tool_call: CALL)

[実行] memory_search -> Found 3 documents (tool_call: CALL)

[エラー] file_read -> no such file (tool_call: CALL)

bot concludes

bot answers: The file is missing.
`)
    expect(exported.stdout).toContain(turn.slice(turn.indexOf('## Turn')))
  },
  { timeout },
)

test('the trail has the steps that are asked for, oldest first', { timeout }, async () => {
  const { run } = await answered()
  const trail = async (...args: string[]) => {
    const { code, stdout, stderr } = await run('audit', 'trail', '--json', ...args)
    expect([code, stderr]).toEqual([0, ''])
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  const steps = await trail()
  const all = steps.map(({ id }) => id)
  expect(all).toEqual([...all].sort())
  expect(steps.map(({ phase }) => phase)).toEqual([
    ...['execute', 'thinking', 'execute', 'error', 'execute', 'execute'],
  ])
  expect((await trail('--limit', '2')).map(({ id }) => id)).toEqual(all.slice(-2))
  const failed = { thread_id: 'demo/bot', turn_number: 3, phase: 'error' }
  expect(await trail('--phase', 'error')).toEqual([expect.objectContaining(failed)])
  const ofTurn = await trail('--thread', 'demo/bot', '--turn', '3')
  expect(ofTurn.map(({ phase }) => phase)).toEqual(['thinking', 'execute', 'error'])
  expect(await trail('--from', 'aide')).toEqual([])
  expect(await trail('--until', '1h')).toEqual([])
  expect(await trail('--since', '1h', '--from', 'bot,tools')).toHaveLength(all.length)

  const { stdout } = await run('audit', 'trail', '--thread', 'bot', '--turn', '3', '--phase', 'thinking')
  expect(stdout).toMatch(/^20\S+Z {2}bot turn 3, asked by ben {2}thinking: I'll look in both places\.\n$/)

  // A turn that does not exist is an error; a turn without matching steps is not.
  const turn = (...args: string[]) => run('audit', 'trail', '--thread', 'bot', '--turn', ...args)
  const stderr = 'there is no turn 999 of bot; meup audit trail --thread bot shows those that are\n'
  expect(await turn('999')).toEqual({ code: 1, stdout: '', stderr })
  expect(await turn('3', '--phase', 'plan')).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('the trail and its Markdown say what is wrong with what they were asked', { timeout }, async () => {
  const { cwd } = await openAsked()
  const wrong = [
    ['trail', '--turn', '1'],
    ['trail', '--thread', 'bot', '--turn', '0'],
    ['trail', '--limit', 'x'],
    ['trail', '--phase', 'doubt'],
    ['trail', '--since', 'someday'],
    ['export', '--thread', 'bot'],
    ['export', '--format', 'markdown', '--turn', '1'],
  ]
  for (const args of some(wrong, 3))
    expect(await meup(['audit', ...args], { cwd })).toMatchObject({ code: 2, stdout: '' })
  for (const command of [['trail'], ['export', '--format', 'markdown']]) {
    const unknown = await meup(['audit', ...command, '--thread', 'nobody'], { cwd })
    expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('demo/nobody') })
  }
})
