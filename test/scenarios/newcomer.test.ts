import { spawnSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { meup, readError, temporaryFolder } from '../support/cli.js'
import { inTmux, openPane, type Pane } from '../support/tmux.js'

const timeout = 300_000
const entry = join(import.meta.dirname, '../../packages/cli/bin/meup.js')
const quietly = { env: { NO_COLOR: '1', npm_config_update_notifier: 'false' } }

function enter(pane: Pane, line: string): void {
  pane.type(line)
  pane.press('Enter')
}

/** Counts how often a text is in the terminal. */
const count = (pane: Pane, text: string): number => pane.all().split(text).length - 1

test(
  'from an empty folder to an agent that answers, is watched, hidden, denied and approved',
  inTmux(async () => {
    const cwd = temporaryFolder()
    const made = await meup(['init', 'my-space', '--person', 'ana', '--listen', '127.0.0.1:0'], { cwd })
    expect([made.code, made.stderr.split('\n').at(-2)]).toEqual([
      0,
      'the last one in another terminal there, or npx meup open for the page; then ask: Can we deploy?',
    ])
    const [go = '', up = '', enterIt = '', ...more] = made.stdout.trimEnd().split('\n')
    expect([go, more]).toEqual(['cd my-space', []])
    expect(made.stderr).not.toContain('leaves out')
    const folder = join(cwd, 'my-space')
    for (const name of ['ana', 'reviewer', 'files']) {
      expect(statSync(join(folder, '.meup/tokens', name)).mode & 0o777).toBe(0o600)
    }
    expect(spawnSync('git', ['init', '-q'], { cwd: folder }).status).toBe(0)
    const status = spawnSync('git', ['status', '--short', '-uall'], { cwd: folder, encoding: 'utf8' }).stdout
    expect(status.trimEnd().split('\n').sort()).toEqual([
      '?? .gitignore',
      '?? README.md',
      '?? agent.test.ts',
      '?? agent.ts',
      '?? files/report.txt',
      '?? package.json',
      '?? pnpm-workspace.yaml',
      '?? space.yaml',
      '?? tsconfig.json',
    ])

    // Run the commands that `meup init` has printed, in two terminals. The space reloads its file when it changes.
    const space = openPane(`${go} && ${up} --watch`, { cwd, columns: 100, ...quietly })
    await space.sees('listening on http://127.0.0.1:', 90_000)
    await space.sees('another terminal: npx meup join · see it: npx meup open')
    const ana = openPane(`${go} && ${enterIt}`, { cwd, columns: 100, ...quietly })
    await ana.sees('you are ana in my-space', 90_000)
    await ana.shows((screen) => expect(screen).toMatch(/> *$/))
    await expect
      .poll(
        () => {
          enter(ana, '/participants')
          return ana.screen()
        },
        { timeout: 60_000, interval: 1000 },
      )
      .toMatch(/● {2}reviewer[\s\S]*● {2}files|● {2}files[\s\S]*● {2}reviewer/)

    // Ask a question, and watch the agent answer.
    enter(ana, 'Can we deploy?')
    await ana.sees('reviewer: I recommend against deploying: FAIL 2 token expires')
    await ana.sees('reviewer  · The change is small; the test report decides')
    await ana.sees(/reviewer {2}● read_text_file report\.txt — what fails decides ✓ \d+ B/)

    // Hide the thoughts.
    ana.press('C-t')
    await ana.sees('thinking hidden')
    await ana.shows((screen) => expect(screen).toMatch(/── ana in my-space · thinking hidden/))
    ana.press('C-t')
    await ana.sees('thinking visible')

    // Take away the agent's right to call a tool, so that its call is denied.
    const file = join(folder, 'space.yaml')
    const yaml = readFileSync(file, 'utf8')
    const may = ', { kind: mcp.request, to: files }]'
    expect(yaml).toContain(may)
    writeFileSync(file, yaml.replace(may, ']'))
    await space.sees('reviewer has other capabilities')
    enter(ana, 'And now?')
    await ana.sees(/reviewer ✗ stops thinking: [\s\S]*not\s[\s\S]*allowed to send/)
    await ana.sees('reviewer: I could not answer: "reviewer" is not allowed')
    // The owner sees the refusal, and gets an offer to allow the call.
    const refused =
      /reviewer: mcp\.request read_text_file denied: it lacks\s+\{"tool":"files\/read_text_file"\}[\s\S]*\/allow \d+/
    await ana.sees(refused)
    const read = async (...args: string[]) => (await meup(args, { cwd: folder })).stdout
    const [reasoning, trail, markdown] = [
      await read('reasoning'),
      await read('audit', 'trail'),
      await read('audit', 'export', '--format', 'markdown'),
    ]
    expect(reasoning).toMatch(/┄ read_text_file[\s\S]*what fails decides[\s\S]*outcome: +rejected/)
    expect(reasoning).toContain('✗ I could not answer: "reviewer" is not allowed')
    expect(trail).toMatch(/Policy capability_violation: .*\{"tool":"files\/read_text_file"\}/)
    expect(markdown).toMatch(
      /denied: read_text_file .*"what fails decides".*lacks \{"tool":"files\/read_text_file"\}/,
    )
    const why = await read('why')
    expect(why).toMatch(/^\S+ {2}reviewer answers: I could not answer: "reviewer" is not allowed/)
    expect(why).toMatch(/^ {2}asked by +ana: And now\? {2}#\d+$/m)
    expect(why).toMatch(
      /^ {2}refused +mcp\.request read_text_file denied: it lacks \{"tool":"files\/read_text_file"\}/m,
    )
    expect(await read('why', 'capability_violation')).toMatch(
      /^ {2}lacks +\{"tool":"files\/read_text_file"\} · \/allow \d+/m,
    )
    // If the words match several envelopes, a terminal asks which one is meant.
    const asking = openPane(`${go} && ${enterIt.replace('join', 'why read_text_file')}`, {
      cwd,
      columns: 100,
      ...quietly,
    })
    await asking.sees('why which of these? 1–3, Enter: 1', 90_000)
    await asking.sees(/^3 {2}\S+ {2}reviewer calls read_text_file/m)
    enter(asking, '3')
    await asking.sees(/reason +what fails decides/)
    await asking.sees(/allowed +by space\.yaml/)
    await asking.sees('ended 0')
    enter(ana, '/why capability_violation')
    await ana.sees(
      /reviewer was refused: mcp\.request read_text_file denied[\s\S]*reason +what fails decides/,
    )
    enter(ana, '/allow')
    await ana.sees('reviewer may call read_text_file of files without asking:')
    ana.press('Escape')

    // Let the agent propose calls, and approve one.
    writeFileSync(file, yaml.replace(may, ', mcp.proposal, mcp.withdraw]'))
    await expect.poll(() => count(space, 'reviewer has other capabilities'), { timeout: 60_000 }).toBe(2)
    enter(ana, 'And with my leave?')
    await ana.sees('⚠ 1 pending · y/n · reviewer: files/read_text_file — what fails decides · /always')
    enter(ana, 'y')
    await ana.sees('✓ approved: ok 1 signs in FAIL 2 token expires ok 3 signs out')
    await expect
      .poll(() => count(ana, 'reviewer: I recommend against deploying'), { timeout: 60_000 })
      .toBe(2)
    ana.press('C-d')
    await ana.sees('ended 0')
    space.press('C-c')
    await space.sees(/ended (0|130)$/)
  }),
  timeout,
)

test('nothing is written over, and what is wrong is said', { timeout }, async () => {
  const cwd = temporaryFolder({ 'package.json': '{"name":"mine"}' })
  const run = (...args: string[]) => meup(['init', ...args], { cwd })
  expect(readError(await run('--json'))).toMatchObject({
    ...{ code: 'folder_in_use', exitCode: 2, details: { files: ['package.json'] } },
  })
  expect(readFileSync(join(cwd, 'package.json'), 'utf8')).toBe('{"name":"mine"}')
  expect(await run('new', '--person', 'files')).toMatchObject({ code: 2, stdout: '' })
  expect(await run('new', '--space', 'Not A Name')).toMatchObject({ code: 2, stdout: '' })
  expect(await run('new', '--listen', 'anywhere')).toMatchObject({ code: 2, stdout: '' })

  const { code, stdout } = await run('new folder', '--json', '--person', 'null', '--agent', '007')
  expect(code).toBe(0)
  const received = JSON.parse(stdout) as { commands: string[]; files: string[]; person: string }
  expect(received).toMatchObject({ space: 'new-folder', person: 'null', agent: '007' })
  expect(received.commands).toEqual(["cd 'new folder'", 'npx meup up', 'npx meup join'])
  for (const file of received.files) expect(statSync(join(cwd, 'new folder', file)).isFile()).toBe(true)
  const validated = await meup(['space', 'validate'], { cwd: join(cwd, 'new folder') })
  expect(validated.code).toBe(0)
  expect(await run('new folder')).toMatchObject({ code: 2 })
})

test(
  'at a terminal it asks, and asks again where an answer will not do',
  inTmux(async () => {
    const cwd = temporaryFolder()
    const pane = openPane(`node '${entry}' init there --listen 127.0.0.1:0`, { cwd, ...quietly })
    await pane.sees('What is the space for?')
    pane.press('Down', 'Enter')
    await pane.sees('Where is the model?')
    pane.press('Up', 'Enter')
    await pane.sees('Name of the model')
    enter(pane, 'llama')
    await pane.sees('Its address')
    enter(pane, 'localhost')
    await pane.sees('--base-url takes an address')
    pane.press('C-u')
    enter(pane, '')
    await pane.sees('Environment variable with its key, if it needs one')
    enter(pane, '')
    await pane.sees('Name of the space')
    enter(pane, 'tea')
    await pane.sees('Your name in it')
    enter(pane, 'ana')
    await pane.sees('the space tea, with you as ana and an agent, reviewer; now run:')
    await pane.sees('ended 0')
    expect(readFileSync(join(cwd, 'there/space.yaml'), 'utf8')).toMatch(
      /^space: tea\n[\s\S]*listen: 127\.0\.0\.1:0 #[\s\S]* {2}ana: [\s\S]* {2}reviewer:\n/m,
    )
    expect(readFileSync(join(cwd, 'there/model.ts'), 'utf8')).toMatch(
      /model: 'llama',\n {2}baseURL: 'http:\/\/127\.0\.0\.1:11434\/v1',/,
    )

    const second = openPane(`node '${entry}' init elsewhere`, { cwd, ...quietly })
    await second.sees('What is the space for?')
    second.press('Escape')
    await second.sees('meup: nothing was written')
    await second.sees('ended 2')
  }),
  timeout,
)
