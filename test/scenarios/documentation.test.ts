import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { loadConfig } from 'meup'
import { expect, onTestFinished, test } from 'vitest'
import { meup, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { startProgram } from '../support/page-programs.js'
import { type Snippet, snippetsOf, writeSnippets } from '../support/snippets.js'

/** The folder of "Your first agent": in the repository, as the page says. */
function folderOf(snippets: readonly Snippet[]): string {
  const folder = join(repositoryRoot, 'my-space')
  rmSync(folder, { recursive: true, force: true })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeSnippets(snippets, repositoryRoot)
  return folder
}

async function ana(url: string, folder: string) {
  const space = await connect({ url, space: 'demo', as: 'ana', directory: folder })
  await space.whenPresent(['reviewer', 'files'], { timeoutMs: 60_000 })
  return space
}

/** It starts one program after the other. */
const lengthy = { timeout: 120_000 }

test('"Your first agent" leads from an empty folder to an answer, and to a refusal', lengthy, async () => {
  const snippets = snippetsOf('docs/first-agent.md')
  const folder = folderOf(snippets)
  const listen = ['--listen', '127.0.0.1:0']
  const running = await startMeup('up', folder, listen)
  startProgram(folder, 'agent.ts')
  const space = await ana(running.url, folder)

  const envelopes = space.envelopes()
  const question = await space.chat('Can we deploy?')
  for await (const envelope of envelopes) {
    if (envelope.kind !== 'chat' || envelope.correlationId !== question.id) continue
    expect(envelope.payload.message).toBe('I recommend against deploying: FAIL 2 token expires')
    break
  }
  const watched = await meup(['watch', '--from', '1', '--no-follow'], { cwd: folder })
  expect(watched.stdout).toContain(
    'reviewer → files/read_text_file {"path":"report.txt"}  — what fails decides',
  )
  expect(watched.stdout).toContain('reviewer ∎ 1 tests fail')
  const called = await meup(['call', 'reviewer/failures', '{"text":"FAIL 1"}'], { cwd: folder })
  expect(called).toMatchObject({ code: 0, stdout: 'FAIL 1\n' })
  space.close()
  expect(await running.stop('SIGTERM')).toBe(0)

  const config = join(folder, 'space.yaml')
  writeFileSync(config, readFileSync(config, 'utf8').replace(', { kind: mcp.request, to: files }', ''))
  const restricted = await startMeup('up', folder, listen)
  startProgram(folder, 'agent.ts')
  const again = await ana(restricted.url, folder)
  const seen = again.envelopes()
  await again.chat('Can we deploy?')
  for await (const envelope of seen) {
    if (envelope.kind !== 'reasoning.cancel') continue
    expect(envelope.payload.reason).toMatch(
      /^"\w+" is not allowed to send .* It lacks the capability \{"tool":"files\/read_text_file"\}/,
    )
    break
  }
  again.close()
})

test('"Your first agent" can be edited while the space runs it', lengthy, async () => {
  const snippets = snippetsOf('docs/first-agent.md')
  const folder = folderOf(snippets)
  const [asProgram] = snippets.filter(({ language, file }) => language === 'yaml' && file === undefined)
  const config = readFileSync(join(folder, 'space.yaml'), 'utf8')
  const changed = config.replace(/ {2}reviewer:\n(?: {4}.*\n)+/, `${asProgram?.text}`)
  expect(changed).not.toBe(config)
  writeFileSync(join(folder, 'space.yaml'), changed)
  const { url } = await startMeup('up', folder, ['--listen', '127.0.0.1:0'])
  const space = await ana(url, folder)
  const envelopes = space.envelopes()

  const code = readFileSync(join(folder, 'agent.ts'), 'utf8')
  writeFileSync(join(folder, 'agent.ts'), code.replace('I recommend against deploying', 'Better not'))
  for await (const envelope of envelopes) {
    const { kind, from, payload } = envelope
    const isBack =
      kind === 'system.presence' && payload.event === 'join' && payload.participant.id === 'reviewer'
    if (isBack) await space.chat('Can we deploy?')
    if (kind !== 'chat' || from !== 'reviewer') continue
    expect(payload.message).toBe('Better not: FAIL 2 token expires')
    break
  }
  space.close()
})

test("the README's agent is the one that was just run, but for whom it is", () => {
  const agent = (page: string) => snippetsOf(page).find(({ language }) => language === 'ts')?.text
  const readme = agent('README.md')
  expect(readme?.replace(/connect\(\).*/, "connect({ as: 'reviewer' })")).toBe(agent('docs/first-agent.md'))
  expect(readme?.split('\n').length).toBeLessThanOrEqual(25)
})

test('the configuration of the docs is accepted as it stands', () => {
  const [snippet] = snippetsOf('docs/space-yaml.md').filter(({ language }) => language === 'yaml')
  const folder = temporaryFolder({ 'space.yaml': snippet?.text ?? '' })
  const { spaces } = loadConfig(join(folder, 'space.yaml'))
  expect(Object.keys(spaces[0]?.config.participants ?? {})).toEqual([
    'ana',
    'reviewer',
    'files',
    'remote',
    'worker',
    'coder',
  ])
})
