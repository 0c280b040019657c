import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createSpaceSchema } from '../../../scripts/space-schema.js'
import { temporaryFolder } from '../../../test/support/cli.js'
import { filesUnder } from '../../../test/support/files.js'
import { readText } from '../../../test/support/packages.js'
import { snippetsOf } from '../../../test/support/snippets.js'
import { placeSchema, schemaLine, spaceTemplate } from '../src/operator/space-file.js'

const schema = JSON.parse(readFileSync(new URL('../schema/space.schema.json', import.meta.url), 'utf8'))
const validate = new Ajv({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allErrors: true,
}).compile(schema)
/** Problems that an editor would report, by the JSON schema. */
function problemsIn(yaml: string): string[] {
  validate(parse(yaml))
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

const pages = [...filesUnder('docs', '.md'), ...filesUnder('examples', '.md'), 'README.md']
const whole = pages.flatMap((page) =>
  snippetsOf(page)
    .filter(({ language, text }) => language === 'yaml' && /^version: 1$/m.test(text))
    .map(({ text }, index) => [`${page}, ${index + 1}`, text] as const),
)
const files = [
  ...['examples', 'packages/cli/templates']
    .flatMap((folder) => filesUnder(folder, '.yaml'))
    .filter((path) => path.endsWith('/space.yaml')),
  'deploy/space.yaml',
].map((path) => [path, readText(path)] as const)

test('the schema is the one that the code determines', () => {
  expect(schema).toEqual(JSON.parse(JSON.stringify(createSpaceSchema())))
})

describe('what is right is not marked', () => {
  test('there are enough examples', () => {
    expect(whole.length).toBeGreaterThan(5)
    expect(files.length).toBeGreaterThan(5)
  })

  test.for([
    ...whole,
    ...files,
    ['meup space init', spaceTemplate({ space: 'x', human: 'ana', agent: 'bot' })] as const,
    [
      'variables',
      `version: 1\nspace: \${S}\ngateway: { listen: "\${L:-127.0.0.1:0}" }\nmcp: { visibility: "\${V}" }`,
    ] as const,
    [
      'several spaces',
      'version: 1\nspaces: { a: { participants: { ana: { kind: human } } }, b: {} }',
    ] as const,
  ])('%s', ([, text]) => {
    expect(problemsIn(text)).toEqual([])
  })
})

test.for([
  ['version: 1\nspace: demo\nparticpants: {}', / must NOT have additional properties/],
  ['version: 1', / must have required property 'space'/],
  ['version: 1\nspace: Demo', /^\/space must match pattern/],
  ['version: 1\nspace: demo\ngateway: { listen: "8080" }', /^\/gateway\/listen must match pattern/],
  [
    'version: 1\nspace: demo\nparticipants: { ana: { kind: humna } }',
    /^\/participants\/ana\/kind must be equal/,
  ],
  [
    'version: 1\nspace: demo\nparticipants: { f: { kind: mcp, url: "https://x.example", args: [a] } }',
    /additional/,
  ],
  ['version: 1\nspace: demo\nspaces: { a: {} }', /additional/],
  ['version: 1\nspace: demo\ndefaults: { capabilities: chat }', /^\/defaults\/capabilities must be array/],
] as const)('%j is marked', ([text, problem]) => {
  expect(problemsIn(text)).toContainEqual(expect.stringMatching(problem))
})

test('a space.yaml names the schema of its packages, or a copy in its folder', () => {
  const folder = temporaryFolder()
  expect(placeSchema(folder)).toBe('# yaml-language-server: $schema=./space.schema.json\n')
  expect(JSON.parse(readFileSync(join(folder, 'space.schema.json'), 'utf8'))).toEqual(schema)
  const installed = temporaryFolder()
  mkdirSync(join(installed, 'node_modules'))
  symlinkSync(fileURLToPath(new URL('..', import.meta.url)), join(installed, 'node_modules/meup'))
  expect(placeSchema(installed)).toBe(schemaLine)
  expect(readdirSync(installed)).toEqual(['node_modules'])
  for (const [path, text] of files.filter(([path]) => path.startsWith('packages/cli/templates/')))
    expect(text.startsWith(schemaLine), path).toBe(true)
})
