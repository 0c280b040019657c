import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough, Readable, Writable } from 'node:stream'
import { ndJsonStream } from '@agentclientprotocol/sdk'
import { expect, onTestFinished, test, vi } from 'vitest'
import { choose, Editor } from '../../packages/acp/test/support/editor.js'
import { environment, meupCommand } from '../support/cli.js'
import { openMcpSpace } from '../support/mcp-space.js'
import { snippetsOf } from '../support/snippets.js'

vi.setConfig({ testTimeout: 60_000 })

interface Settings {
  readonly agent_servers: { readonly demo: { readonly command: string; readonly args: readonly string[] } }
}
const [settings] = snippetsOf('docs/acp.md').filter(({ language }) => language === 'json')
const { demo } = (JSON.parse(settings?.text ?? '') as Settings).agent_servers

/** Runs the command of docs/acp.md for the space in this folder as a child process, and connects an `Editor` to it. */
async function startEditor(folder: string) {
  const here: Record<string, string> = { '/home/ana/demo': folder, ana: 'desktop', helper: 'ben' }
  expect(demo.command).toBe('meup')
  const [command = '', ...args] = meupCommand(demo.args.map((each) => here[each] ?? each))
  const child = spawn(command, args, { env: environment({}) })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close')
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    said.stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said.stderr += chunk
  })
  const stdout = Readable.toWeb(child.stdout.pipe(new PassThrough())) as ReadableStream<Uint8Array>
  const editor = new Editor(ndJsonStream(Writable.toWeb(child.stdin), stdout))
  await editor.initialize()
  return { child, ended, said, editor }
}

test('an editor asks an agent, decides what it proposes, and comes back to its session', async () => {
  await using space = await openMcpSpace()
  const { child, ended, said, editor } = await startEditor(space.cwd)
  const { sessionId, modes } = await editor.begin()
  expect(modes?.currentModeId).toBe('ben')
  expect(modes?.availableModes.map(({ id }) => id).sort()).toEqual(['ben', 'shop'])

  await editor.prompt(sessionId, 'What is a cake?')
  editor.decide = () => choose('allow_once')
  expect(await editor.prompt(sessionId, 'Buy a cake')).toEqual({ stopReason: 'end_turn' })
  expect(editor.shown).toEqual([
    'thinks: Looking into the shop',
    'thinks: The price decides',
    'shop/price {} in_progress: Why: to price a cake',
    '… completed: Why: to price a cake | two coins',
    'thinks: That settles it',
    'says: price: two coins',
    'thinks: Looking into the shop',
    'thinks: The price decides',
    'shop/buy {} pending: ben asks: to buy a cake',
    '… in_progress: ben asks: to buy a cake | approved by desktop',
    '… completed: ben asks: to buy a cake | approved by desktop | sold',
    'thinks: That settles it',
    'says: buy: sold',
  ])
  expect(editor.permissions[0]?.options.map(({ kind }) => kind)).toEqual(['allow_once', 'reject_once'])
  expect(space.sold()).toBe(1)

  child.stdin.end()
  expect(await ended).toEqual([0, null])
  const messages = said.stdout.trimEnd().split('\n')
  expect(messages.map((line) => JSON.parse(line).jsonrpc)).toEqual(messages.map(() => '2.0'))

  const { editor: later } = await startEditor(space.cwd)
  const { sessions } = await later.list()
  expect(sessions).toMatchObject([{ sessionId, title: 'What is a cake?' }])
  await later.load(sessionId)
  expect(later.shown.filter((each) => !each.startsWith('user: '))).toEqual(editor.shown)
})

test('a proposal that was made before is asked at the first prompt', async () => {
  await using space = await openMcpSpace()
  const trainee = await space.enter('trainee')
  await trainee.propose({ to: 'shop', method: 'tools/call', params: { name: 'buy', arguments: {} } })
  const { editor } = await startEditor(space.cwd)
  const { sessionId } = await editor.begin()
  editor.decide = () => choose('allow_once')
  expect(editor.shown).toEqual([])
  await editor.prompt(sessionId, 'What is a cake?')
  await expect.poll(() => editor.shown).toContain('shop/buy {} pending: trainee asks: no reason given')
  await expect.poll(() => space.sold()).toBe(1)
})

test('its user is kicked: the prompt says why, and the command ends', async () => {
  await using space = await openMcpSpace()
  const { ended, said, editor } = await startEditor(space.cwd)
  const { sessionId } = await editor.begin()
  const refused = expect(editor.prompt(sessionId, 'Say nothing')).rejects.toThrow(/enough/)
  const ana = await space.enter('ana')
  await ana.kick('desktop', { reason: 'enough' })
  await refused
  expect(await ended).toEqual([5, null])
  expect(said.stderr).toMatch(/^meup: .*enough/m)
})
