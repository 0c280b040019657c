import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runsOf } from '../../docs/pictures/cells.js'
import { drawPictures } from '../../docs/pictures/draw.js'
import { withChromium } from '../support/chromium.js'
import { temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { inTmux } from '../support/tmux.js'

const place = join(repositoryRoot, 'docs/pictures')
/** Bytes. */
const maximum: Readonly<Record<string, number>> = { png: 220_000, svg: 200_000 }

const kindOf = (file: string): string => file.split('.').at(-1) ?? ''
const picturesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => kindOf(file) in maximum)
    .sort()

/** The pages for people, from the root of the repository. */
const pages = [
  'README.md',
  ...readdirSync(join(repositoryRoot, 'docs')).flatMap((file) =>
    file.endsWith('.md') ? [`docs/${file}`] : [],
  ),
]

/** Pictures of a page, relative to the root of the repository. */
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
  const drawn = picturesIn(place).map((file) => `docs/pictures/${file}`)
  expect(shown.filter((file) => file.startsWith('docs/pictures/'))).toEqual(drawn)
  expect(drawn.length).toBeGreaterThan(0)
  for (const file of drawn) {
    expect([file, statSync(join(repositoryRoot, file)).size]).toEqual([file, expect.toSatisfy(fits(file))])
  }
})

const fits =
  (file: string) =>
  (bytes: number): boolean =>
    bytes > 1000 && bytes < (maximum[kindOf(file)] ?? 0)

/** `pnpm pictures` has them drawn where the pages show them, others just see whether they still can be. */
const draw = (chromium: string) =>
  inTmux(async () => {
    const { MEUP_PICTURES: given } = process.env
    const folder = given === undefined ? temporaryFolder() : resolve(repositoryRoot, given)
    await drawPictures(chromium, folder)
    expect(picturesIn(folder)).toEqual(picturesIn(place))
    for (const file of picturesIn(folder)) {
      const bytes = readFileSync(join(folder, file))
      expect([file, bytes.length]).toEqual([file, expect.toSatisfy(fits(file))])
      if (kindOf(file) === 'png') expect(bytes.subarray(1, 4).toString()).toBe('PNG')
    }
    const recording = readFileSync(join(folder, 'terminal.svg'), 'utf8')
    expect(recording).toContain('prefers-reduced-motion:no-preference')
    expect(recording).not.toMatch(/<script|[^\P{Cc}\n]|https?:\/\/(?!www\.w3\.org)/u)
    // The final image, as people without motion see it.
    const ending = recording.replace(/<[^>]+>/g, '')
    expect(ending).toContain('release-agent: Done: reverted auth-token as 7c1e0d4')
  })

test(
  'the pictures can be drawn: a real run, on a page and at a terminal',
  { timeout: 300_000 },
  withChromium((chromium, context) => draw(chromium)(context)),
)

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
