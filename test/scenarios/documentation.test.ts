import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { loadConfig } from 'meup'
import { expect, test } from 'vitest'
import { initSpace, meup, startMeup, temporaryFolder } from '../support/cli.js'
import { cloneWith, printedBy } from '../support/page-programs.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

async function ana(url: string, folder: string) {
  const space = await connect({ url, space: 'demo', as: 'ana', directory: folder })
  await space.whenPresent(['reviewer', 'files'], { timeoutMs: 60_000 })
  return space
}

/** Saves the agent's file, and waits until the agent has restarted. */
async function save(space: SpaceClient, folder: string, code: string): Promise<void> {
  const envelopes = space.envelopes()
  writeFileSync(join(folder, 'agent.ts'), code)
  for await (const { kind, payload } of envelopes)
    if (kind === 'system.presence' && payload.event === 'join' && payload.participant.id === 'reviewer')
      return
}

/** Allows for several programs that are started one after the other. */
const lengthy = { timeout: 120_000 }

test('"Your first agent" leads to an answer, to another one, and to a refusal', lengthy, async () => {
  const page = snippetsOf('docs/first-agent.md')
  const folder = await initSpace('hello')
  const running = await startMeup('up', folder)
  const space = await ana(running.url, folder)
  const { text } = await space.ask('Can we deploy?', { to: ['reviewer'] })
  expect(text).toBe('I recommend against deploying: FAIL 2 token expires')

  const code = readFileSync(join(folder, 'agent.ts'), 'utf8')
  await save(space, folder, code.replace('I recommend against deploying', 'Better not'))
  const again = await space.ask('Can we deploy?', { to: ['reviewer'] })
  expect(again.text).toBe('Better not: FAIL 2 token expires')

  const watched = await meup(['watch', '--from', '1', '--no-follow'], { cwd: folder })
  expect(watched.stdout).toContain(
    'reviewer → files/read_text_file {"path":"report.txt"}  — what fails decides',
  )
  expect(watched.stdout).toContain('reviewer ∎ 1 tests fail')
  // If the output begins between a call and its result, the line of the result names the tool.
  const tails = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      meup(['watch', '--tail', `${at + 1}`, '--no-follow'], { cwd: folder }),
    ),
  )
  expect(tails.map(({ stdout }) => stdout.trimStart().split('\n')[0])).toContain(
    'files ← read_text_file: success (50 chars)',
  )
  const called = await meup(['call', 'reviewer/failures', '{"text":"FAIL 1"}'], { cwd: folder })
  expect(called).toMatchObject({ code: 0, stdout: 'FAIL 1\n' })
  space.close()
  expect(await running.stop('SIGTERM')).toBe(0)

  const config = join(folder, 'space.yaml')
  writeFileSync(config, readFileSync(config, 'utf8').replace(', { kind: mcp.request, to: files }]', ']'))
  const restricted = await startMeup('up', folder)
  const refused = await ana(restricted.url, folder)
  const { text: refusal } = await refused.ask('Can we deploy?', { to: ['reviewer'] })
  expect(page.map(({ text }) => text)).toContain(`${refusal}\n`)
  refused.close()
})

test("the README's programs are short", () => {
  const programs = snippetsOf('README.md').filter(({ language }) => language === 'ts')
  expect(programs).toHaveLength(2)
  for (const { text } of programs) expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(25)
})

test.for(['README.md', 'docs/working-together.md'])('the program of %s prints what it says', (page) => {
  const folder = cloneWith(page)
  const outputs = snippetsOf(page).filter(({ language, file }) => language === 'text' && file !== undefined)
  expect(outputs).toHaveLength(1)
  for (const { file = '', text } of outputs) {
    // Write only the programs: the expected output names the same file, and would be appended to it.
    writeSnippets(
      snippetsOf(page).filter(({ language }) => language === 'ts'),
      join(folder, 'programs'),
    )
    expect(printedBy(join(folder, 'programs'), file)).toBe(text)
  }
})

test('the configuration of the docs is accepted as it stands', () => {
  const [snippet] = snippetsOf('docs/space-yaml.md').filter(({ language }) => language === 'yaml')
  const folder = temporaryFolder({ 'space.yaml': snippet?.text ?? '' })
  const { spaces } = loadConfig(join(folder, 'space.yaml'))
  expect(Object.keys(spaces[0]?.config.participants ?? {})).toEqual([
    'ana',
    'reviewer',
    'importer',
    'files',
    'remote',
    'worker',
    'coder',
  ])
})
