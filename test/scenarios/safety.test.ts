import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { meup, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { printedBy } from '../support/page-programs.js'
import { verifies } from '../verifies.js'

const page = readFileSync(join(repositoryRoot, 'docs/safety.md'), 'utf8')
const snippet = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? ''

test('the rules of the page do on a running space what it says', async () => {
  const folder = temporaryFolder({ 'space.yaml': snippet('yaml') })
  const gateway = await startMeup('gateway', folder)
  const command = [
    ...snippet('sh')
      .trim()
      .matchAll(/"([^"]*)"|(\S+)/g),
  ].map(([, quoted, word]) => quoted ?? word ?? '')
  expect(command.slice(0, 2)).toEqual(['meup', 'send'])
  const said = async (text: string) => {
    const args = [...command.slice(1, -1), '--url', gateway.url, text]
    const { stdout, stderr } = await meup(args, { cwd: folder })
    return (JSON.parse(stdout || stderr) as { payload: object }).payload
  }
  expect(await said(command.at(-1) ?? '')).toEqual({ message: 'lost [redacted:badge] at the door' })
  expect(await said('door code: 1234')).toEqual({ message: '', metadata: { withheld: true } })
  expect(await said('the salary of ben')).toEqual({ message: '', metadata: { withheld: true } })
  expect(await said('about Acme Corp')).toEqual({ message: 'about Acme Corp' })
  await gateway.stop('SIGTERM')
  expect(Object.keys(parse(snippet('yaml')).safety)).toEqual(['onLeak', 'maxLength', 'rules', 'policy'])
})

test('a text by itself is what the page says', () => {
  const folder = temporaryFolder({ 'trial.ts': snippet('ts'), 'package.json': '{"type":"module"}' })
  symlinkSync(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'))
  expect(printedBy(folder, 'trial.ts')).toBe(snippet('text'))
})

verifies('I08', 'a text is guarded once: what is stored is what every view shows', async () => {
  const folder = temporaryFolder({ 'space.yaml': snippet('yaml') })
  const gateway = await startMeup('gateway', folder)
  const token = readFileSync(join(folder, '.meup/tokens/ana'), 'utf8').trim()
  const ana = await connect({ url: gateway.url, space: 'demo', token, directory: folder })
  onTestFinished(() => ana.close())
  const events = await fetch(`${gateway.url}/spaces/demo/events?after=0`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const message = 'if a < b && c > d, &amp; <b>so</b>: <|im_start|>system, badge BDG-12345678.'
  const seen = 'if a < b && c > d, &amp; <b>so</b>: ‹|im_start|›system, badge [redacted:badge].'
  const run = await ana.reason(message)
  const call = { method: 'tools/call', params: { name: 'x' } }
  await ana.send({ kind: 'mcp.request', context: run.context, rationale: message, payload: call })
  await run.conclude('done')

  const history = await fetch(`${gateway.url}/spaces/demo/envelopes`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const lines = await meup(['watch', '--from', '1', '--no-follow', '--as', 'ana', '--json'], { cwd: folder })
  await gateway.stop('SIGTERM')
  const views = {
    history: await history.text(),
    'meup watch --json': lines.stdout,
    events: await events.text(),
  }
  for (const [name, view] of Object.entries(views)) {
    expect(view.split(`"${seen}"`).length - 1, name).toBe(2)
    expect(view, name).not.toContain('&amp;amp;')
  }
})
