import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { runsOf } from '../../docs/pictures/cells.js'
import { repositoryRoot } from '../support/files.js'
import { fits, picturesFolder, picturesIn } from '../support/pictures.js'

/** Paths of the pages of documentation, relative to the root of the repository. */
const pages = [
  'README.md',
  ...readdirSync(join(repositoryRoot, 'docs')).flatMap((file) =>
    file.endsWith('.md') ? [`docs/${file}`] : [],
  ),
]

/** Lists the pictures of a page, relative to the root of the repository. */
function shownOn(page: string): string[] {
  const text = readFileSync(join(repositoryRoot, page), 'utf8')
  const links = [...text.matchAll(/!\[[^\]]+\]\(([^)\s]+)\)|<(?:img|source)[^>]* src(?:set)?="([^"]+)"/g)]
  return links
    .map(([, written = '', html = '']) => written || html)
    .filter((link) => !link.startsWith('http'))
    .map((link) => relative(repositoryRoot, join(repositoryRoot, dirname(page), link)))
}

test('the pages show pictures that are there, and all that were drawn, each of which is small', () => {
  const shown = [...new Set(pages.flatMap(shownOn))].sort()
  expect(shown.filter((file) => !existsSync(join(repositoryRoot, file)))).toEqual([])
  const drawn = picturesIn(picturesFolder).map((file) => `docs/pictures/${file}`)
  expect(shown.filter((file) => file.startsWith('docs/pictures/'))).toEqual(drawn)
  expect(drawn.length).toBeGreaterThan(0)
  for (const file of drawn) {
    expect([file, statSync(join(repositoryRoot, file)).size]).toEqual([file, expect.toSatisfy(fits(file))])
  }
})

test('rows of a terminal become texts with places and looks', () => {
  const row = '\u001B[1m\u001B[35mana\u001B[0m: hi \u001B[2m◐ x\u001B[22my\u001B[31mz'
  expect(runsOf(`${row}\n  on\u001B[39moff`)).toEqual([
    [
      { column: 0, text: 'ana', look: ['b', 'c35'] },
      { column: 3, text: ': hi ', look: [] },
      { column: 8, text: '◐', look: ['d'] },
      { column: 9, text: ' x', look: ['d'] },
      { column: 11, text: 'y', look: [] },
      { column: 12, text: 'z', look: ['c31'] },
    ],
    [
      { column: 0, text: '  on', look: ['c31'] },
      { column: 4, text: 'off', look: [] },
    ],
  ])
})
