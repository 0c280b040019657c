import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { startMeup, temporaryFolder } from '../support/cli.js'
import { drivePage } from '../support/driven-page.js'
import { repositoryRoot } from '../support/files.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

test(
  '"The page" leads from an empty folder to a decision',
  { timeout: 60_000 },
  withChromium(async (chromium) => {
    const clone = temporaryFolder({ 'package.json': '{"type":"module"}' })
    symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'))
    writeSnippets(snippetsOf('docs/page.md'), clone)
    const folder = join(clone, 'watched')
    const { url } = await startMeup('up', folder, ['--listen', '127.0.0.1:0'])

    const page = await drivePage(chromium)
    await page.goTo(`${url}/#/s/demo`)
    await page.type('input[name=token]', readFileSync(join(folder, '.meup/tokens/ana'), 'utf8').trim())
    await page.click('button[type=submit]')
    const present = () => page.evaluate<number>(`document.querySelectorAll('.people li:not(.away)').length`)
    await expect.poll(present, { timeout: 20_000 }).toBe(3)
    await page.type('textarea', 'My order 4711 has not arrived.')
    await page.key('Enter')
    await page.shows('The order never arrived, so all of it.')
    await page.shows(/euros\s+42/)
    await page.click('button', 'Approve')
    await page.shows('ana agreed')
    await page.shows('paid back')
    expect(page.problems).toEqual([])
  }),
)
