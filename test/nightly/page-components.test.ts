import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { drivePage } from '../support/driven-page.js'
import { repositoryRoot } from '../support/files.js'
import { pictures } from '../support/page.js'

const observer = join(repositoryRoot, 'packages/observer')

/** Starts the dev server of the page, as `pnpm dev:page` does. Resolves with its address. */
async function startDevServer(): Promise<string> {
  const vite = join(observer, 'node_modules/vite/bin/vite.js')
  const server = spawn(process.execPath, [vite, '--port', '0', '--host', '127.0.0.1'], {
    ...{ cwd: observer, stdio: ['ignore', 'pipe', 'inherit'] },
    env: { ...process.env, NO_COLOR: '1' },
  })
  onTestFinished(() => void server.kill())
  let written = ''
  return new Promise((resolve, reject) => {
    server.on('exit', (code) => reject(new Error(`vite exited with ${code}: ${written}`)))
    server.stdout?.on('data', (chunk: Buffer) => {
      written += chunk
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(written) ?? []
      if (url !== undefined) resolve(url)
    })
  })
}

test(
  'the component page of the dev server draws every state, without a gateway and without an error',
  { timeout: 180_000 },
  withChromium(async (chromium) => {
    const url = await startDevServer()
    const page = await drivePage(chromium)
    await page.resize(1440, 900)
    await page.goTo(`${url}/components`)
    // Vite compiles the page's imports at the first request, which takes a while.
    await expect.poll(() => page.text(), { timeout: 120_000 }).toContain('What I found')
    await page.shows('Side by side')
    const empty = `[...document.querySelectorAll('section.specimen')].filter((state) => state.innerText.trim().split('\\n').length < 2).map(({ id }) => id)`
    await expect.poll(() => page.evaluate(`document.querySelectorAll('section.specimen').length`)).toBe(12)
    await expect.poll(() => page.evaluate(empty)).toEqual([])
    await page.shows('Approve anyway')
    await page.shows('Where to?')
    await page.click('#palette button', 'Open')
    await page.shows('what waits for a decision')
    await page.evaluate(`document.querySelector('dialog').close()`)
    await page.click('#settings button', 'Open')
    await page.shows('For this browser.')
    await page.evaluate(`document.querySelector('dialog').close()`)
    await page.screenshot(pictures('components'))
    await page.click('button', 'dark')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    expect(page.problems).toEqual([])
  }),
)
