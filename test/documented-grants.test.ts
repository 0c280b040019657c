import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Capability, covers } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { filesUnder, repositoryRoot } from './support/files.js'
import { snippetsOf } from './support/snippets.js'

interface SpaceFile {
  readonly participants?: Record<string, { readonly capabilities?: readonly Capability[] }>
}

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8')
const pages = filesUnder('docs', '.md')
const written = [
  ...filesUnder('examples', 'space.yaml').map((path) => ({ path, text: read(path) })),
  ...pages.flatMap((path) =>
    snippetsOf(path).flatMap(({ language, text }) => (language === 'yaml' ? [{ path, text }] : [])),
  ),
]
/** The capabilities of all participants in the space files of examples and docs. */
const grants = written.flatMap(({ path, text }) =>
  Object.entries((parse(text) as SpaceFile | null)?.participants ?? {}).map(
    ([id, { capabilities = [] }]) => ({ path, id, capabilities }),
  ),
)

describe('what docs and examples let people give', () => {
  const held = grants.filter(({ capabilities }) => capabilities.length > 0)

  test.each(held)('$path: all that $id holds, by whoever holds it or everything', ({ capabilities }) => {
    expect(covers(capabilities, capabilities)).toBe(true)
    expect(capabilities.filter((each) => !covers(['*', 'observe.targeted'], [each]))).toEqual([])
  })

  test('there are such files', () => {
    expect(held.length).toBeGreaterThan(15)
  })

  const call = (name: string): Capability => ({
    kind: 'mcp.request',
    to: 'files',
    payload: { method: 'tools/call', params: { name } },
  })
  /** Grants in docs and examples: the file, who grants, the text in the file, and the capability that the text grants. */
  test.each<[string, string, string, Capability]>([
    ['docs/trust.md', 'guard', 'proposals.allowAlways(', call('write_file')],
    [
      'docs/trust.md',
      'ana',
      "{ kind: 'mcp.request', to: 'files', payload: { method: 'tools/list' } }",
      { kind: 'mcp.request', to: 'files', payload: { method: 'tools/list' } },
    ],
    ['docs/trust.md', 'ana', "space.invite('visitor', ['chat']", 'chat'],
    ['docs/trust.md', 'ana', 'participant.*, to: helper', { kind: 'participant.*', to: 'helper' }],
    ['docs/trust.md', 'ana', "{ tool: 'files/read_*' }", { tool: 'files/read_*' }],
    ['docs/trust.md', 'guard', "{ tool: 'files/read_*' }", { tool: 'files/read_*' }],
    ['examples/supervised-agent/src/story.ts', 'ana', 'proposals.allowAlways(', call('list_directory')],
    ['examples/supervised-agent/src/story.ts', 'ana', 'proposals.allowAlways(', { tool: 'files/list_*' }],
  ])('%s: by %s, %s', (page, granter, words, given) => {
    expect(read(page)).toContain(words)
    const folder = page.replace(/\/src\/.*$/, '/space.yaml')
    const lists = grants.filter(({ path, id }) => path === folder && id === granter)
    expect(lists.length).toBeGreaterThan(0)
    for (const { capabilities } of lists) expect(covers(capabilities, [given])).toBe(true)
  })

  const command = /meup (?:caps grant|invite) \S+ ('\{.*?\}'|[\w.*/-]+)/g
  const commands = pages.flatMap((path) => [...read(path).matchAll(command)].map(([, what = '']) => what))
  test.each(commands.filter((what) => !what.startsWith('<')))('by command: %s', (what) => {
    const given = what.startsWith("'") ? (JSON.parse(what.slice(1, -1)) as Capability) : what
    expect(covers(['*'], [given])).toBe(true)
  })
})
