import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connect } from '../../packages/gateway/test/projected.js'
import { meup, startMeup, temporaryFolder } from '../support/cli.js'

const config = (storage = '') => `
version: 1
space: demo
${storage}
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  files: { kind: agent, capabilities: ["mcp.response"] }
`

const tool = (name: string): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: { path: 'notes.txt' } },
  })
const outcomes = {
  read_file: { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'buy milk' }] } },
  delete_file: { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'not allowed' } },
}

/** A folder whose gateway has run, and in which ana thought twice, and asked for two tools, of which one failed. */
async function ranOnce() {
  const cwd = temporaryFolder({ 'space.yaml': config() })
  const running = await startMeup('gateway', cwd)
  for (const message of ['first', 'second']) {
    const think = ['send', '--kind', 'reasoning.thought', '--context', 'aside', message]
    expect(await meup(think, { cwd })).toMatchObject({ code: 0 })
  }
  const send = async (as: string, ...what: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await meup(['send', '--json', '--as', as, ...what], { cwd })
    if (code !== 0) throw new Error(stderr)
    return (JSON.parse(stdout) as { id: string }).id
  }
  for (const [name, outcome] of Object.entries(outcomes)) {
    const asked = await send('ana', '--kind', 'mcp.request', '--to', 'files', '--payload', tool(name))
    await send(
      'files',
      '--kind',
      'mcp.response',
      '--reply',
      asked,
      '--to',
      'ana',
      '--payload',
      JSON.stringify(outcome),
    )
  }
  const trail = async () => (await meup(['audit', 'trail', '--json'], { cwd })).stdout
  const told = await trail()
  for (const said of ['second', 'read_file -> buy milk', 'delete_file -> not allowed'])
    expect(told).toContain(said)
  return { cwd, running, trail, told }
}

describe('meup audit rebuild', () => {
  test('makes turns and steps again as they were, from the log alone', { timeout: 90_000 }, async () => {
    const { cwd, running, trail, told: before } = await ranOnce()
    const refused = await meup(['audit', 'rebuild'], { cwd })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/a gateway has .*space\.db open: stop it, then rebuild/)

    await running.stop('SIGTERM')
    const db = connect(join(cwd, '.meup/space.db'))
    const decisions = () => db.prepare('SELECT * FROM tool_decisions ORDER BY 1, 2').all()
    const decided = decisions()
    expect(decided).toHaveLength(2)
    db.exec(`
      UPDATE turns SET record = '{}';
      UPDATE tool_decisions SET record = '{}' WHERE record LIKE '%read_file%';
      DELETE FROM tool_decisions WHERE record LIKE '%delete_file%';
      UPDATE fold_snapshot_parts SET bytes = x'';
    `)
    const envelopes = db.prepare<[], number>('SELECT count(*) FROM envelopes').pluck().get()
    expect(await meup(['audit', 'rebuild'], { cwd })).toEqual({
      code: 0,
      stdout: `demo: ${envelopes} envelopes, 6 turns, 4 steps\n`,
      stderr: '',
    })
    const { stdout } = await meup(['audit', 'rebuild', '--json'], { cwd })
    expect(JSON.parse(stdout)).toEqual({ spaces: [{ space: 'demo', envelopes, turns: 6, steps: 4 }] })
    expect(decisions()).toEqual(decided)
    await startMeup('gateway', cwd)
    expect(await trail()).toBe(before)
  })

  test('has nothing to do where there is no file', async () => {
    const cwd = temporaryFolder({ 'space.yaml': config() })
    expect(await meup(['audit', 'rebuild'], { cwd })).toMatchObject({
      code: 1,
      stderr: /^meup: There is no log /,
    })
    const inMemory = temporaryFolder({ 'space.yaml': config('storage: { kind: memory }') })
    const refused = await meup(['audit', 'rebuild'], { cwd: inMemory })
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('the storage of this space is memory')
  })
})
