import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { TranscriptFile } from '@meup/agent-sdk/transcript/file'
import { expect, onTestFinished, test, vi } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { meup, type RunningSpace, startMeup, temporaryFolder } from '../support/cli.js'
import { drivePage } from '../support/driven-page.js'
import { repositoryRoot } from '../support/files.js'
import { calling, saying, serveModel } from '../support/model-server.js'
import { openDatabase } from '../support/tables.js'
import { verifies } from '../verifies.js'

vi.setConfig({ testTimeout: 180_000 })

/** Copies the example of a model agent. `edit` changes its space.yaml. */
function copyOfExample(edit: (config: string) => string = (config) => config): string {
  const [example, folder] = [join(repositoryRoot, 'examples/model-agent'), temporaryFolder()]
  const filter = (path: string): boolean => !['node_modules', '.meup'].includes(basename(path))
  cpSync(example, folder, { recursive: true, filter })
  symlinkSync(join(example, 'node_modules'), join(folder, 'node_modules'))
  const config = join(folder, 'space.yaml')
  writeFileSync(config, edit(readFileSync(config, 'utf8')).replace('127.0.0.1:8080', '127.0.0.1:0'))
  return folder
}

/** Runs the space until the test is over, together with its agent. */
async function startSpace(cwd: string): Promise<RunningSpace> {
  const running = await startMeup('up', cwd)
  onTestFinished(async () => void (await running.stop('SIGTERM')))
  return running
}

/** Asks the reviewer. Returns the id of its answer. */
async function ask(cwd: string, question: string): Promise<{ id: string; correlationId: string }> {
  const { stdout } = await meup(['ask', 'reviewer', question, '--json'], { cwd })
  return JSON.parse(stdout)
}

const transcript = async (cwd: string, ...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await meup(['transcript', ...args], { cwd })
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

/** Kills a program and all its child processes. */
function killAll(pid: number): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
  process.kill(pid, 'SIGKILL')
  for (const child of children.filter((each) => each.trim() !== '')) killAll(Number(child))
}

verifies(
  'T20',
  'what any agent thought at any step is found by the commands, also after kill −9',
  async () => {
    const cwd = copyOfExample()
    const first = await startSpace(cwd)
    const answers = [
      await ask(cwd, 'Can we deploy?'),
      await ask(cwd, 'Is it safe?'),
      await ask(cwd, 'And now?'),
    ]
    killAll(first.process.pid ?? 0)
    await startSpace(cwd)
    answers.push(await ask(cwd, 'Once more?'))

    const log = await transcript(cwd, 'log')
    expect(log.match(/^reviewer {2}\S+ {2}turn /gm)).toHaveLength(4)
    expect(log.match(/\[reasoning\] Whether to deploy depends on the tests\./g)).toHaveLength(4)
    expect(log).not.toContain('deploy?') // Prompts are not kept.
    const reasoning = await transcript(cwd, 'log', '--agent', 'reviewer', '--type', 'reasoning', '--json')
    expect(
      reasoning
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).commit.content.content_type),
    ).toEqual(Array.from({ length: 4 }, () => 'reasoning'))

    for (const { id, correlationId } of answers) {
      const shown = await transcript(cwd, 'show', id)
      expect(shown).toContain(`turn ${correlationId} · space model-agent`)
      expect(shown).toMatch(/tokens in, \d+ out\n/)
      const inOrder = [
        '[prompt]',
        '[reasoning]\n  Whether to deploy depends on the tests. First I need to know what reports there are.\n',
        '  Let me see what there is.\n  → files__list_directory { "_rationale": "to find the test report", "path": "." }\n',
        '  ⇒ mcp.request ',
        '[tool]\n  [FILE] report.txt\n',
        '→ files__read_text_file',
        'FAIL 2 token expires',
        '[assistant]',
        '  Do not deploy yet: FAIL 2 token expires.\n',
        `  ⇒ chat ${id}\n`,
      ]
      let at = 0
      for (const part of inOrder) {
        const next = shown.indexOf(part, at)
        expect([part, next >= 0]).toEqual([part, true])
        at = next + part.length
      }
    }
    const [one = { id: '' }, two = { id: '' }] = answers
    expect(await transcript(cwd, 'diff', one.id, two.id, '--json')).toContain('"prompt"')
    const difference = await transcript(cwd, 'diff', one.id, two.id)
    // The two prompts differ, because the second has more history. Reasoning, answer and tools are the same.
    expect(difference).toMatch(/^\+ {3}assistant, \d+ characters/m)
    expect(difference).not.toMatch(/^[-+] \[(reasoning|assistant|tool)\]/m)
    expect(await transcript(cwd, 'verify')).toMatch(
      /^reviewer: whole, 36 commits from 1, head [\da-f]{64}\n$/,
    )
    expect(await transcript(cwd, 'compile', one.id)).toMatch(
      /^system: \(\d+ characters, which are not kept\)\nuser: .*\nassistant: Let me see what there is\. → files__list_directory .*\ntool: \[FILE\] report\.txt \[FILE\] rules\.txt\n/,
    )
    expect(await transcript(cwd, 'compile', one.id, '--reasoning')).toContain('assistant: Whether to deploy')

    const other = await meup(['transcript', 'show', 'nobody-has-sent-this'], { cwd })
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringContaining('no transcript here has anything of'),
    ])
    const db = openDatabase(join(cwd, '.meup/transcripts/reviewer.db'))
    db.exec(
      `DROP TRIGGER commits_append_only; UPDATE commits SET body = replace(body, 'Let me', 'Let us') WHERE number = 12`,
    )
    db.close()
    const broken = await meup(['transcript', 'verify'], { cwd })
    expect([broken.code, broken.stdout]).toEqual([
      8,
      expect.stringMatching(/^reviewer: commit 12 \([\da-f]{12}\): its content does not match its hash\n$/),
    ])
  },
)

const chromiumScenario = (chromium: string) => async () => {
  const cwd = copyOfExample()
  await startSpace(cwd)
  await ask(cwd, 'Can we deploy?')
  const { stdout } = await meup(['open', '--no-browser'], { cwd })
  const page = await drivePage(chromium)
  await page.goTo(/http:\S+/.exec(stdout)?.[0] ?? '')
  await page.shows('Do not deploy yet')
  await page.key(']')
  await page.shows(/transcript [\da-f]{12}/)
  const [, hash = ''] = /transcript ([\da-f]{12})/.exec(await page.text()) ?? []
  const shown = await transcript(cwd, 'show', hash)
  expect(shown).toContain('Whether to deploy depends on the tests')
  expect(shown).toContain('Do not deploy yet: FAIL 2 token expires.')
  await page.click('.chip', 'transcript')
  await page.shows(`"transcript": "${hash}`)
}

test(
  'an answer in the page tells which commit covers it',
  withChromium((chromium) => chromiumScenario(chromium)()),
)

test('a replay against the same server is the same; another model differs; no tool runs, nothing is sent', async () => {
  const script = (body: { model: string; messages: readonly { role: string }[] }) => {
    if (body.messages.some(({ role }) => role === 'tool')) return saying(`${body.model} says no.`)
    return calling(
      'files__read_text_file',
      { path: 'report.txt' },
      { reasoning_content: 'The report tells.' },
    )
  }
  const { baseURL, requests } = await serveModel(script)
  const withModel = (config: string): string =>
    config
      .replace(/MODEL: .*/, 'MODEL: openai-compatible/qwen3')
      .replace(/(?<=MODEL_BASE_URL: ).*/, baseURL)
      .replace('args: [dist/model-agent.js]\n', 'args: [dist/model-agent.js]\n    transcript: full\n')
  const cwd = copyOfExample(withModel)
  await startSpace(cwd)
  const { id } = await ask(cwd, 'Can we deploy?')
  expect(requests).toHaveLength(2)
  const head = async () =>
    (await meup(['audit', 'verify'], { cwd })).stdout.split('\n').find((line) => line.startsWith('head'))
  const before = await head()
  expect(before).toMatch(/^head \d+:/)
  const unconfirmed = await meup(['transcript', 'replay', id], { cwd, env: { MODEL_API_KEY: 'hush-hush' } })
  expect([unconfirmed.code, requests.length]).toEqual([2, 2])
  expect(await transcript(cwd, 'replay', id, '--base-url', baseURL)).toBe('no difference\n')
  expect(requests).toHaveLength(4)
  expect(requests[3]?.body.messages).toEqual(requests[1]?.body.messages)
  const other = await transcript(cwd, 'replay', id, '--model', 'llama', '--base-url', baseURL)
  expect(other).toMatch(/^[^+-]*- {3}qwen3 says no\.\n\+ {3}llama says no\.\n$/)
  expect(await head()).toBe(before)
  const file = await TranscriptFile.read(join(cwd, '.meup/transcripts/reviewer.db'))
  onTestFinished(() => file.close())
  expect(file.verify()).toMatchObject({ ok: true, commits: 6 })
})

test('transcript: off leaves nothing on the disk', async () => {
  const cwd = copyOfExample((config) =>
    config.replace('args: [dist/model-agent.js]\n', 'args: [dist/model-agent.js]\n    transcript: off\n'),
  )
  await startSpace(cwd)
  await ask(cwd, 'Can we deploy?')
  expect(readdirSync(join(cwd, '.meup'))).not.toContain('transcripts')
  const written = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter(
    (each) =>
      each.isFile() &&
      !/node_modules|\/(dist|src)(\/|$)/.test(each.parentPath) &&
      !each.name.startsWith('space.db'), // The log contains the published thoughts.
  )
  for (const { parentPath, name } of written)
    expect(readFileSync(join(parentPath, name), 'latin1')).not.toContain('Whether to deploy depends')
  const { code, stderr } = await meup(['transcript', 'log'], { cwd })
  expect([code, stderr]).toEqual([2, expect.stringContaining('there are no transcripts in')])
})

test('notes on older messages are listed, and belong to no turn', async () => {
  const cwd = temporaryFolder()
  const file = await TranscriptFile.open(join(cwd, '.meup/transcripts/bot.db'))
  const content = {
    content_type: 'summary',
    text: 'Ana likes tea.',
    epoch: 'e',
    through: 3,
    asOf: 4,
  } as const
  file.append([{ content, metadata: { at: '2026-01-01T00:00:00.000Z', space: 'demo' } }])
  file.close()
  const listed = await meup(['transcript', 'log', '--type', 'summary'], { cwd })
  expect(listed.stdout).toMatch(
    /^bot {2}2026-01-01T00:00:00\.000Z {2}no turn\n {2}\w+ \[summary\] Ana likes tea\.\n$/,
  )
})
