import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { repositoryRoot } from '../../../../test/support/files.js'
import { PreparedSpace, type Run } from '../../../../test/support/prepared-space.js'
import { snippetsOf } from '../../../../test/support/snippets.js'
import { commandExamples, listLeaves } from '../../src/command-help.js'
import { jsonOutputs, withoutJson } from '../../src/json-outputs.js'
import { createProgram } from '../../src/program.js'

/** Lines that are not run here, with the reason and the test that runs them. */
const notRun: Readonly<Record<string, readonly [why: string, test: string]>> = {
  'meup audit verify demo.jsonl --head 120:1f00…': ['names a head', 'test/scenarios/audit.test.ts'],
  'meup watch --kind chat.delta --json': ['needs an answer in parts', 'test/scenarios/live-answers.test.ts'],
  'meup init ../my-space --from packs': ['needs packages', 'test/install'],
  'cd ../my-space && npm install && meup up': ['needs packages', 'test/install'],
  'mkdir -p guarded/files && meup -C guarded up': [
    'needs the files of the page',
    'test/scenarios/trust.test.ts',
  ],
  'meup -C guarded join': ['needs the files of the page', 'test/scenarios/trust.test.ts'],
  'meup top': ['draws on a terminal', 'test/scenarios/top.test.ts'],
  'meup top --as ana': ['draws on a terminal', 'test/scenarios/top.test.ts'],
}

/** Tests that compare the terminal sessions on a page of the docs with real output, by the path of the page. */
const terminals: Readonly<Record<string, string>> = {
  'docs/audit.md': 'test/scenarios/why-pages.test.ts',
  'docs/commands.md': 'test/scenarios/commands-page.test.ts',
  'docs/observing.md': 'test/scenarios/why-pages.test.ts',
  'docs/operating.md': 'test/scenarios/operating.test.ts',
  'docs/troubleshooting.md': 'test/nightly/mistakes.test.ts',
}

/** Whether a command runs until it is interrupted. */
const isEndless = (line: string): boolean =>
  /meup (?:-C \S+ )?(?:up(?! -d)|gateway|watch(?!.*--no-follow)|logs.* -f|mcp serve.*--http|audit export .*--follow|replay(?!.*--(?:speed max|into)))/.test(
    line,
  )

/**
 * Folder to run a line in: with the running space, with a space that is not running, with one to which servers are added, or an
 * empty one.
 */
function placeOf(line: string): 'running' | 'idle' | 'extended' | 'empty' {
  if (/meup add\b/.test(line)) return 'extended'
  if (/meup (?:up|gateway|-C \S+ down|down)\b/.test(line)) return 'idle'
  return /meup (?:space )?init\b/.test(line) ? 'empty' : 'running'
}

/** Commands to run before a line, so that it succeeds. */
const prepared: Readonly<Record<string, string>> = {
  'meup token create ben --show': 'meup token revoke ben',
  'meup token create stranger': 'meup token revoke stranger',
  'meup token revoke ben --json': 'meup token create ben',
  'meup up --json': 'meup down',
  'meup up -d --json': 'meup down',
  'meup -C copy gateway --listen 127.0.0.1:8081': 'cp space.yaml copy/',
}

/** Participant that must make a proposal before a line decides or lists it. */
function proposerOf(line: string): 'ana' | 'bot' | undefined {
  if (!/proposals (?:\w+ P1|ls)/.test(line)) return undefined
  return /withdraw P1(?! --as)/.test(line) ? 'ana' : 'bot'
}

interface Line {
  readonly line: string
  /** Path of the command that has this line as an example, such as `caps grant`. */
  readonly path?: string
}

const examples: readonly Line[] = Object.entries(commandExamples).flatMap(([path, examples]) =>
  examples.map(([line]) => ({ path, line })),
)

/** `meup` commands in shell snippets of the docs, line by line. */
const documented: readonly Line[] = ['README.md', ...readdirSync(join(repositoryRoot, 'docs')).sort()]
  .map((name) => (name === 'README.md' ? name : `docs/${name}`))
  .filter((page) => page.endsWith('.md'))
  .flatMap((page) => snippetsOf(page).filter(({ language }) => language === 'sh'))
  .flatMap(({ text }) => text.split('\n'))
  .filter((line) => /(?:^|\| |; |&& )(?:pnpm |npx )?meup /.test(line))
  .map((line) => ({ line: line.replace(/\s+#.*$/, '').replace(/\b(?:pnpm|npx) meup/g, 'meup') }))

/** Lines with `--json` that replace a command's example, or add an option that changes the output. */
const withJson: readonly Line[] = [
  { path: 'erase', line: `meup erase '#6' --reason "personal data"` },
  { path: 'up -d', line: 'meup up -d' },
  { path: 'audit export --format sqlite', line: 'meup audit export --format sqlite --to steps.db' },
  { path: 'add', line: 'meup add more -- npx -y @modelcontextprotocol/server-filesystem .' },
  { path: 'mcp serve', line: 'meup mcp serve --http 0' },
  { path: 'replay', line: 'meup replay export.jsonl --speed max' },
  { path: 'replay --into', line: 'meup replay export.jsonl --into into.db' },
]

/** Adds `--json` to a line, before ` -- `: the words after that are arguments of another program. */
const addJson = (line: string): string =>
  line.includes(' -- ') ? line.replace(' -- ', ' --json -- ') : `${line} --json`

/** One line with `--json` per command: its example without the option, unless an example already has it. */
function listJsonLines(): readonly Line[] {
  const isPrinted = new Set(examples.filter(({ line }) => line.includes('--json')).map(({ path }) => path))
  const others = examples.filter(
    ({ path = '', line }) =>
      !isPrinted.has(path) &&
      !withJson.some((each) => each.path === path) &&
      !(path in withoutJson || line in notRun),
  )
  const first = others.filter(({ path }, at) => others.findIndex((each) => each.path === path) === at)
  return [...withJson, ...first].map(({ path = '', line }) => ({
    path,
    line: addJson(line.replace(/ > \S+$/, '').replace(/ -o \S+$/, '')),
  }))
}

/** Whether a line only reads, so that it can run concurrently with others. */
const isReading = (line: string): boolean =>
  /meup (?:caps ls|doctor|help|man|ps|reasoning|search (?!--tool)|space validate|spaces|stats|transcript (?!replay)|watch .*--no-follow)/.test(
    line,
  ) && !/[|>]/.test(line)

/** Order of lines: token changes first; lines that read what earlier lines have written, or erase envelopes, last. */
const rankOf = (line: string): number =>
  /meup token/.test(line)
    ? -1
    : /meup erase/.test(line)
      ? 2
      : /meup (?:replay|audit verify) \w+\.jsonl|-C copy|caps log/.test(line)
        ? 1
        : 0

/** All lines, without duplicates, in a working order. */
function listLines(): readonly Line[] {
  const seen = new Set<string>()
  return [...examples, ...documented, ...listJsonLines()]
    .filter(({ line }) => !(line in notRun) && !seen.has(line) && seen.add(line))
    .sort((one, other) => rankOf(one.line) - rankOf(other.line))
}

class Runner {
  readonly printed = new Map<string, string>()
  readonly problems: object[] = []
  readonly #space: PreparedSpace
  readonly #idle: string
  readonly #extended: string

  constructor(space: PreparedSpace) {
    this.#space = space
    this.#idle = space.createFolder(true)
    this.#extended = space.createFolder(true)
  }

  async run(lines: readonly Line[]): Promise<void> {
    for (const { line, path } of lines) {
      const before = prepared[line]
      if (before !== undefined) await this.#space.run(before, { cwd: this.#findFolder(line) })
      const ran = await this.#run(line)
      const isExpected = isEndless(line)
        ? [0, 130].includes(ran.code ?? 1) && !/^meup: /m.test(ran.stderr)
        : ran.code === 0
      if (!isExpected) this.problems.push({ line, ...ran })
      else if (path !== undefined && line.includes('--json')) this.printed.set(path, ran.stdout)
    }
  }

  /** Stops background processes that lines have started. */
  async close(): Promise<void> {
    await this.#space.run('meup down', { cwd: this.#idle })
  }

  async #run(line: string): Promise<Run> {
    const written = await this.#space.translate(line)
    const place = { cwd: this.#findFolder(line), isEndless: isEndless(line) }
    const proposer = proposerOf(line)
    const run = (): Promise<Run> => this.#space.run(written, place)
    return proposer === undefined ? run() : this.#space.withProposal(proposer, run)
  }

  #findFolder(line: string): string {
    const place = placeOf(line)
    if (place === 'running') return this.#space.folder
    if (place === 'idle') return this.#idle
    return place === 'extended' ? this.#extended : this.#space.createFolder(false)
  }
}

test('commands of help and docs run as they are written, and print the JSON of docs/commands.md', {
  timeout: 600_000,
}, async () => {
  const space = await PreparedSpace.start()
  const runner = new Runner(space)
  const lines = listLines()
  const isHere = ({ line }: Line): boolean => placeOf(line) === 'running'
  try {
    const isFirst = ({ line }: Line): boolean => rankOf(line) < 0
    await runner.run(lines.filter(isFirst))
    const [others, elsewhere] = [
      lines.filter((each) => !isFirst(each) && isHere(each)),
      lines.filter((each) => !isHere(each)),
    ]
    const lanes = [
      others.filter(({ line }) => !isReading(line)),
      others.filter(({ line }) => isReading(line)),
      elsewhere,
    ]
    await Promise.all(lanes.map((each) => runner.run(each)))
  } finally {
    await runner.close()
  }
  expect(runner.problems).toEqual([])

  const missing = Object.keys(jsonOutputs).filter((path) => !runner.printed.has(path))
  expect(missing).toEqual([])
  const openApi = (await (await fetch(`${space.url}/openapi.json`)).json()) as object
  const problems: object[] = []
  for (const [path, { prints, schema }] of Object.entries(jsonOutputs)) {
    const output = runner.printed.get(path) ?? ''
    const values = prints === 'one' ? [output] : output.split('\n').filter(Boolean)
    if (values.length === 0 && path !== 'join') problems.push({ path, problem: 'prints nothing' })
    for (const value of values) {
      const parsed = parse(value)
      if (parsed === undefined) problems.push({ path, problem: 'is not JSON', value })
      else problems.push(...check(schema, openApi, parsed).map((each) => ({ path, ...each, value })))
    }
  }
  expect(problems).toEqual([])
})

/** Parses JSON; `undefined` if it is invalid. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Validates a value. Objects of the gateway are validated by its OpenAPI description. */
function check(schema: object, openApi: object, value: unknown): object[] {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'openapi', ...openApi })
  const text = JSON.stringify(schema).replace(/"\$ref":"(\w+)"/g, '"$ref":"openapi#/components/schemas/$1"')
  const isValid = ajv.compile(JSON.parse(text))
  return isValid(value) ? [] : (isValid.errors ?? [])
}

test('every command has a schema of its JSON, or a reason why it prints none', () => {
  const leaves = listLeaves(createProgram())
  const withJson = leaves.filter(({ command }) => command.options.some(({ long }) => long === '--json'))
  expect(Object.keys(jsonOutputs).filter((path) => !path.includes(' -'))).toEqual(
    expect.arrayContaining(withJson.map(({ path }) => path)),
  )
  expect(Object.keys(withoutJson).sort()).toEqual(
    leaves
      .filter((each) => !withJson.includes(each))
      .map(({ path }) => path)
      .sort(),
  )
})

test('what is not run here is run by another test', () => {
  const lines = [...documented, ...examples].map(({ line }) => line)
  expect(Object.keys(notRun).filter((line) => !lines.includes(line))).toEqual([])
  for (const [, file] of Object.values(notRun)) expect(existsSync(join(repositoryRoot, file))).toBe(true)
  const pages = readdirSync(join(repositoryRoot, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .filter((page) => snippetsOf(page).some(({ language }) => language === 'console'))
  expect(pages.sort()).toEqual(Object.keys(terminals))
  for (const [page, file] of Object.entries(terminals))
    expect(readFileSync(join(repositoryRoot, file), 'utf8')).toContain(page)
})
