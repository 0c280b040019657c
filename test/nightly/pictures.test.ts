import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { drawPictures } from '../../docs/pictures/draw.js'
import { withChromium } from '../support/chromium.js'
import { temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { fits, kindOf, picturesFolder, picturesIn } from '../support/pictures.js'
import { inTmux } from '../support/tmux.js'

/** Draws the pictures: with `pnpm pictures` into docs, otherwise into a temporary folder to check that it works. */
const draw = (chromium: string) =>
  inTmux(async () => {
    const { MEUP_PICTURES: given } = process.env
    const folder = given === undefined ? temporaryFolder() : resolve(repositoryRoot, given)
    await drawPictures(chromium, folder)
    expect(picturesIn(folder)).toEqual(picturesIn(picturesFolder))
    for (const file of picturesIn(folder)) {
      const bytes = readFileSync(join(folder, file))
      expect([file, bytes.length]).toEqual([file, expect.toSatisfy(fits(file))])
      if (kindOf(file) === 'png') expect(bytes.subarray(1, 4).toString()).toBe('PNG')
    }
    const recording = readFileSync(join(folder, 'terminal.svg'), 'utf8')
    expect(recording).toContain('prefers-reduced-motion:no-preference')
    expect(recording).not.toMatch(/<script|[^\P{Cc}\n]|https?:\/\/(?!www\.w3\.org)/u)
    // The last screen, as users see it who prefer reduced motion.
    const ending = recording.replace(/<[^>]+>/g, '')
    expect(ending).toContain('release-agent: Done: reverted auth-token as 7c1e0d4')
  })

test(
  'the pictures can be drawn: a real run, on a page and at a terminal',
  { timeout: 300_000 },
  withChromium((chromium, context) => draw(chromium)(context)),
)
