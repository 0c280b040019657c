import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { fillTemplate } from '../src/operator/fill-template.js'
import { chooseModel, createFiles, findProblem, init, proposeNames } from '../src/operator/init.js'
import { describeWrongValue, templateOptions } from '../src/operator/init-questions.js'
import { initSpace } from '../src/operator/space-file.js'
import { addVersions, clone, listPackages, missingArchives } from '../src/operator/template-packages.js'
import { type TemplateName, templates } from '../src/operator/templates.js'
import { configIn } from './support/folder.js'
import { refused } from './support/refused.js'

const names = { space: 'tea', person: 'ana', agent: 'bot', listen: '127.0.0.1:0' }
const all = Object.keys(templates) as TemplateName[]

test('the menu explains each template, also those that are not selected', () => {
  expect(templateOptions.map(({ label }) => label)).toEqual(
    Object.entries(templates).map(([name, { about }]) => `${name.padEnd(10)}  ${about}`),
  )
})

test('the agent is the one of the README', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  expect(/^```ts\n([\s\S]*?)^```$/m.exec(readme)?.[1]).toBe(fillTemplate('hello', names)['agent.ts'])
})

test('a file in the place of the folder, or above it, is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'meup-init-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'README.md')
  writeFileSync(file, '')
  const error = refused('not_a_folder', { path: file })
  for (const place of [file, join(file, 'in', 'it')]) {
    await expect(init(place, { yes: true })).rejects.toThrow(error)
    expect(() => initSpace(place, {})).toThrow(error)
  }
})

test('packs are installed by npm, which may take minutes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'meup-init-'))
  let said = ''
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      said += text
      return true
    }),
  )
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore()
    rmSync(folder, { recursive: true })
  })
  for (const file of missingArchives(folder)) writeFileSync(file, '')
  await init(join(folder, 'space'), { from: folder, yes: true })
  expect(said).toMatch(/npm install may take minutes without output/)
})

test('the problem of a value that was asked for does not repeat which', () => {
  const problem = describeWrongValue(findProblem('hello', { ...names, space: 'Not A Name' }))
  expect(problem).toMatch(/^must be a name/)
  expect(describeWrongValue(findProblem('hello', { ...names, agent: 'ana' }))).toMatch(/different names/)
  expect(describeWrongValue(undefined)).toBeUndefined()
})

describe('the space', () => {
  test.for(all)('of %s is right, and has the names that it is given', (template) => {
    const { files } = createFiles(template, { ...names, space: 'null', person: 'Yes', agent: '007' })
    const { config } = configIn('/srv', files['space.yaml'] ?? '')
    const [space] = config.spaces
    expect(space?.config.name).toBe('null')
    expect(Object.keys(space?.config.participants ?? {}).slice(0, 2)).toEqual(['Yes', '007'])
    expect(config.gateway).toMatchObject({ host: '127.0.0.1', port: 0 })
    expect(files['space.yaml']).not.toMatch(/\b(demo|ana|8080)\b/)
  })

  test('names the agent also in what it may do', () => {
    expect(fillTemplate('coder', names)['space.yaml']).toContain('{ tool: bot/read }')
  })

  test.for(['ana', 'null', '123', '1e3', 'Yes', 'a.b_c-d'])('is right for %j', (person) => {
    const { config } = configIn('/srv', fillTemplate('hello', { ...names, person })['space.yaml'] ?? '')
    expect(Object.keys(config.spaces[0]?.config.participants ?? {})).toEqual(
      expect.arrayContaining([person, 'bot', 'files']),
    )
  })

  test.for([
    [{ person: 'bot' }, 'same_names', 'names'],
    [{ agent: 'files' }, 'same_names', 'names'],
    [{ space: 'Not a name' }, 'invalid_names', 'space: must be a name'],
    [{ person: 'a b' }, 'invalid_names', 'must be an id'],
    [{ listen: 'nowhere' }, 'invalid_names', 'gateway.listen: must be HOST:PORT'],
  ] as const)('is refused with %j', ([wrong, code, word]) => {
    const problem = findProblem('hello', { ...names, ...wrong })
    expect(problem).toEqual(refused(code))
    expect(problem?.message).toContain(word)
  })

  test('is named by its folder, and listens where nobody else does', async () => {
    const usual = await proposeNames('/home/ana/My Project (2)', 'supervised')
    expect(usual).toMatchObject({
      space: 'my-project-2',
      agent: 'clerk',
      listen: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    })
    expect(findProblem('supervised', usual)).toBeUndefined()
  })
})

describe('the model', () => {
  const choose = (flags: object) => chooseModel('model', flags, false)

  test('is that of a provider, whose key stays in the environment', async () => {
    const model = await choose({ provider: 'google', model: 'gemini-9', key: 'MY_KEY' })
    const files = fillTemplate('model', names, model)
    expect(files['model.ts']).toContain("provider('gemini-9')")
    expect(files['package.json']).toContain('"@ai-sdk/google": "*"')
    expect(files['package.json']).not.toContain('openai-compatible')
    expect(files['space.yaml']).toContain(`MODEL_API_KEY: \${MY_KEY} #`)
  })

  test('is anywhere with an address, and needs no key there', async () => {
    const model = await choose({ baseUrl: 'http://127.0.0.1:8000/v1', model: 'org/model:7b' })
    const files = fillTemplate('model', names, model)
    expect(files['model.ts']).toContain("model: 'org/model:7b',\n  baseURL: 'http://127.0.0.1:8000/v1',")
    const { config } = configIn('/srv', files['space.yaml'] ?? '', {})
    expect(config.spaces[0]?.programs.bot).toMatchObject({ env: { MODEL_API_KEY: '' } })
  })

  test('has a key, or one line says which variable is missing', async () => {
    const { 'space.yaml': yaml = '' } = fillTemplate('model', names, await choose({}))
    expect(() => configIn('/srv', yaml)).toThrow(
      /the environment variable ANTHROPIC_API_KEY is not set; set it/,
    )
  })

  test.for([
    [{ key: 'sk-ant-hush' }, refused('invalid_form', { option: '--key' })],
    [{ model: "it's" }, refused('invalid_value', { option: '--model' })],
    [{ baseUrl: 'localhost' }, refused('invalid_value', { option: '--base-url' })],
    [{ provider: 'openai', baseUrl: 'http://x/v1' }, refused('option_needed', { option: '--base-url' })],
  ] as const)('is refused with %j', async ([flags, reason]) => {
    await expect(choose(flags)).rejects.toThrow(reason)
    await expect(choose(flags)).rejects.not.toThrow(/hush/)
  })

  test('is asked for by one template alone', async () => {
    await expect(chooseModel('hello', { model: 'x' }, false)).rejects.toThrow(refused('option_needed'))
    expect(await chooseModel('hello', {}, false)).toBeUndefined()
  })
})

describe('packages', () => {
  const read = (template: TemplateName, archives?: string) =>
    JSON.parse(addVersions(fillTemplate(template, names), archives).files['package.json'] ?? '')

  test.for(all)('of %s have exact versions', (template) => {
    const { name, dependencies, devDependencies, overrides } = read(template)
    expect(name).toBe('tea')
    for (const version of Object.values({ ...dependencies, ...devDependencies }))
      expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    expect(overrides).toBeUndefined()
  })

  test('that are in no registry are files, also where they use each other', () => {
    const { dependencies, overrides } = read('hello', '/srv/packs')
    expect(dependencies).toMatchObject({
      meup: expect.stringMatching(/^file:\/srv\/packs\/meup-[\d.]+\.tgz$/),
      '@meup/agent-sdk': expect.stringMatching(/^file:\/srv\/packs\/meup-agent-sdk-[\d.]+\.tgz$/),
      tsx: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    })
    expect(Object.keys(overrides)).toEqual(expect.arrayContaining(['@meup/protocol', '@meup/folds', 'meup']))
    const { files } = addVersions(fillTemplate('hello', names), '/srv/packs')
    expect(files['pnpm-workspace.yaml']).toMatch(/^ {2}"@meup\/safety": file:\/srv\/packs\/meup-safety/m)
  })

  test('of models are those that the SDK is tested with', () => {
    expect(read('model').dependencies.ai).toMatch(/^7\./)
    for (const provider of ['anthropic', 'openai', 'google', 'openai-compatible']) {
      const found = listPackages().filter(({ name }) => name === `@ai-sdk/${provider}`)
      expect([...new Set(found.map(({ version }) => version.split('.')[0]))]).toHaveLength(1)
    }
  })

  test('are all there to be linked in a clone', () => {
    expect(clone).toBeDefined()
    for (const template of all) {
      const { packages } = addVersions(fillTemplate(template, names))
      for (const { folder = '' } of packages) expect(existsSync(folder)).toBe(true)
    }
  })
})
