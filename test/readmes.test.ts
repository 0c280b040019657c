import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesUnder, repositoryRoot } from './support/files.js'
import { packages, readText } from './support/packages.js'

const folders = [...packages.map(({ directory }) => directory), 'bench']
const readmes = folders.map((folder) => `${folder}/README.md`)
const pages = [
  ...readdirSync(repositoryRoot).filter((file) => file.endsWith('.md')),
  ...filesUnder('docs', '.md'),
  'protocol/SPEC.md',
  ...readmes,
  ...folders.map((folder) => `${folder}/DESIGN.md`).filter((page) => existsSync(join(repositoryRoot, page))),
]

test.for(readmes)('%s has 10 lines or more, and 30 at most beside two programs', (readme) => {
  const text = readText(readme).trimEnd()
  const programs = [...text.matchAll(/^```ts[\s\S]*?^```$/gm)].map(([program]) => program.split('\n').length)
  const lines = text.split('\n').length
  expect(lines).toBeGreaterThanOrEqual(10)
  expect(lines - programs.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(30)
  expect(programs.length).toBeLessThanOrEqual(2)
})

test.for(folders.filter((folder) => !/^(examples|bench)\b/.test(folder)))(
  '%s/README.md has the name of its package as its title',
  (folder) => {
    const { name } = JSON.parse(readText(`${folder}/package.json`)) as { name: string }
    expect(readText(`${folder}/README.md`).split('\n')[0]).toBe(`# ${name}`)
  },
)

describe('links', () => {
  const withoutCode = (page: string): string => readText(page).replace(/^```[\s\S]*?^```$/gm, '')

  /** Lists the anchors of a page's headings. */
  const anchorsOf = (page: string): string[] =>
    [...withoutCode(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    )

  test.for(pages)('every relative link of %s has a target', (page) => {
    const links = [...withoutCode(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
    const broken = links.filter(([, file = '', anchor]) => {
      const target = file === '' ? page : relative(repositoryRoot, join(repositoryRoot, dirname(page), file))
      if (!existsSync(join(repositoryRoot, target))) return true
      return anchor !== undefined && !anchorsOf(target).includes(anchor)
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })
})
