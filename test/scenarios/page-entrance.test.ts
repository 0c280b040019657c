import { spawn } from 'node:child_process'
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { testToken } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { commandLine, environment, meup, startMeup, temporaryFolder } from '../support/cli.js'
import { type DrivenPage, drivePage } from '../support/driven-page.js'
import { onPage } from '../support/page.js'

const oneSpace = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
`
const twoSpaces = `
version: 1
gateway: { listen: "127.0.0.1:0" }
spaces:
  first: { guest: { capabilities: [chat] }, participants: { ana: { kind: human, capabilities: ["*"] } } }
  second: { guest: { capabilities: [chat] }, participants: { ana: { kind: human, capabilities: ["*"] } } }
`

/** Returns a link that `meup open` prints. */
async function linkIn(cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout } = await meup(['open', '--json', ...args], { cwd })
  expect(code).toBe(0)
  return (JSON.parse(stdout) as { url: string }).url
}

const address = (page: DrivenPage): Promise<string> => page.evaluate('location.href')
const stored = (page: DrivenPage): Promise<string> =>
  page.evaluate('JSON.stringify([{ ...localStorage }, history.length, location.href, document.referrer])')

test(
  'a link of meup open brings in once, and leaves nothing in the address',
  { timeout: 90_000 },
  withChromium(async (chromium) => {
    const cwd = temporaryFolder({ 'space.yaml': oneSpace })
    const { url } = await startMeup('up', cwd)
    const link = await linkIn(cwd)
    const token = readFileSync(join(cwd, '.meup/tokens/ana'), 'utf8').trim()
    const [, code = ''] = /#\/open\/([\w-]{43})$/.exec(link) ?? []
    expect([link, code.length]).toEqual([`${url}/#/open/${code}`, 43])

    const page = await drivePage(chromium)
    await page.goTo(link)
    await page.shows('live')
    await page.shows('Nothing has happened here yet')
    await page.shows('meup join')
    expect(await address(page)).toBe(`${url}/#/s/demo`)
    expect(await page.evaluate(`sessionStorage['meup-token:demo']`)).toBe(token)
    expect(await stored(page)).not.toContain(code)

    // From now on a bookmark is enough to open the space, until the user signs out.
    await page.evaluate('sessionStorage.clear()')
    await page.reload()
    await page.shows('live')
    await page.click('button', 'sign out')
    await page.shows('Enter a space')
    await page.reload()
    await page.shows('Enter a space')
    expect(await stored(page)).not.toContain(token)

    const other = await drivePage(chromium)
    await other.goTo(link)
    await other.shows('This link was opened before')
    await other.shows('Enter a space')
    expect(await address(other)).toBe(`${url}/`)
    expect(await other.evaluate('sessionStorage.length')).toBe(0)
    expect(page.problems).toEqual([])
  }),
)

test(
  'a link for somebody else is asked about where one is signed in already',
  { timeout: 90_000 },
  withChromium(async (chromium) => {
    const cwd = temporaryFolder({
      'space.yaml': `${oneSpace}  mal: { kind: human, capabilities: [chat] }\n`,
    })
    await startMeup('up', cwd)
    const tokenOf = (name: string): string => readFileSync(join(cwd, '.meup/tokens', name), 'utf8').trim()
    const linkOfMal = (): Promise<string> =>
      linkIn(cwd, '--token-file', join(cwd, '.meup/tokens/mal'), '--space', 'demo')
    const page = await drivePage(chromium)
    const kept = (): Promise<string> => page.evaluate(`sessionStorage['meup-token:demo']`)
    await page.goTo(await linkIn(cwd, '--as', 'ana'))
    await page.shows('ana · sign out')

    await page.goTo(await linkOfMal())
    await page.shows('Enter demo as mal?')
    expect(await kept()).toBe(tokenOf('ana'))
    await page.click('button', 'Stay as I am')
    await page.shows('ana · sign out')
    expect(await kept()).toBe(tokenOf('ana'))

    await page.goTo(await linkOfMal())
    await page.click('button', 'Enter as mal')
    await page.shows('mal · sign out')
    await expect.poll(kept).toBe(tokenOf('mal'))
  }),
)

test(
  'what somebody writes survives that their token is taken away',
  { timeout: 90_000 },
  withChromium(async (chromium) => {
    const cwd = temporaryFolder({ 'space.yaml': oneSpace })
    await startMeup('up', cwd)
    const page = await drivePage(chromium)
    await page.goTo(await linkIn(cwd))
    await page.shows('live')
    await page.type('textarea', 'what I was about to s')
    expect(await meup(['token', 'revoke', 'ana'], { cwd })).toMatchObject({ code: 0 })
    await page.shows('Sign in again')
    await page.type('textarea', 'ay')
    const written = (): Promise<string> => page.evaluate(`document.querySelector('textarea').value`)
    expect(await written()).toBe('what I was about to say')
    await page.click('button', 'Sign in again')
    await page.shows('Enter a space')
    expect(await meup(['token', 'create', 'ana'], { cwd })).toMatchObject({ code: 0 })
    await page.goTo(await linkIn(cwd))
    await page.shows('live')
    expect(await written()).toBe('what I was about to say')
    await page.key('Tab')
    await page.click('button[type=submit]', 'Send')
    await page.shows('what I was about to say')
    await expect.poll(written).toBe('')
    await page.click('button', 'sign out')
    await page.shows('Enter a space')
    expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual([])
  }),
)

test(
  'whoever has several spaces chooses one',
  { timeout: 90_000 },
  withChromium(async (chromium) => {
    const cwd = temporaryFolder({ 'space.yaml': twoSpaces })
    const { url } = await startMeup('up', cwd)
    const page = await drivePage(chromium)
    await page.goTo(await linkIn(cwd, '--space', 'second'))
    await page.shows('live')
    expect(await address(page)).toBe(`${url}/#/s/second`)

    const other = await drivePage(chromium)
    await other.goTo(url)
    const token = readFileSync(join(cwd, '.meup/tokens/first/ana'), 'utf8').trim()
    await other.type('input[name=token]', token)
    await other.click('button[type=submit]')
    await other.shows('live')
    expect(await address(other)).toBe(`${url}/#/s/first`)

    const guest = await drivePage(chromium)
    await guest.goTo(url)
    await guest.click('button[type=submit]')
    await guest.shows('Which space?')
    await guest.click('button', 'second')
    await guest.shows('live')
    const options = `[...document.querySelectorAll('select.space option')].map((each) => each.value)`
    await expect.poll(() => guest.evaluate(options)).toEqual(['first', 'second'])
    await guest.evaluate(`{ const spaces = document.querySelector('select.space'); spaces.value = 'first';
      spaces.dispatchEvent(new Event('change', { bubbles: true })) }`)
    await expect.poll(() => address(guest)).toBe(`${url}/#/s/first`)
    await guest.shows('Enter a space')
    await guest.click('button[type=submit]')
    await guest.shows('live')
  }),
)

test('meup open says what is wrong, and gives nobody else the link', { timeout: 60_000 }, async () => {
  const cwd = temporaryFolder({ 'space.yaml': oneSpace })
  const nowhere = await meup(['open', '--url', 'http://127.0.0.1:9', '--space', 'demo'], { cwd })
  expect(nowhere).toMatchObject({ code: 3, stdout: '' })
  await startMeup('up', cwd)
  const wrong = temporaryFolder({ token: 'nobody-has-this-token' })
  expect(await meup(['open', '--token-file', join(wrong, 'token')], { cwd })).toMatchObject({
    code: 4,
    stdout: '',
  })
  const { stdout, stderr } = await meup(['open'], { cwd })
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/open\/[\w-]{43}\n$/)
  expect(stderr).toMatch(/works once, until \d{4}-/)
  expect(statSync(join(cwd, '.meup/open.html'), { throwIfNoEntry: false })).toBeUndefined()
})

test(
  'a gateway that is away is told from a token that is wrong, and tried again',
  { timeout: 90_000 },
  onPage(async ({ gateway, page }) => {
    const planner = await gateway.enter('planner')
    await planner.chat('said before')
    await page.goTo(`${gateway.url}/#/s/demo`)
    await page.shows('Enter a space')
    await gateway.stop()
    await page.type('input[name=token]', testToken('ana'))
    await page.click('button[type=submit]')
    await page.shows('The space cannot be reached')
    await page.click('button', 'Try again')
    await page.shows('The space cannot be reached')
    await gateway.start()
    await page.click('button', 'Try again')
    await page.shows('said before')
    await page.shows('live')
    await page.shows('audit ✓')
  }),
)

test('without a display it prints the link, and says nothing of a browser', async () => {
  const cwd = temporaryFolder({ 'space.yaml': oneSpace })
  await startMeup('up', cwd)
  const env = environment({ DISPLAY: '', WAYLAND_DISPLAY: '', BROWSER: '' })
  const child = spawn('script', ['-qec', commandLine('open'), '/dev/null'], {
    ...{ cwd, env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  expect(await text(child.stdout)).toMatch(/#\/open\/\S+\s+it works once, until /)
})

test('at a terminal it opens the browser, and tells other users of the machine nothing', {
  timeout: 60_000,
}, async () => {
  const cwd = temporaryFolder({ 'space.yaml': oneSpace })
  const { url } = await startMeup('up', cwd)
  const programs = temporaryFolder({ 'xdg-open': '#!/bin/sh\necho "$@" > "$(dirname "$0")/told"\n' })
  chmodSync(join(programs, 'xdg-open'), 0o755)
  const seen = { DISPLAY: ':0', WAYLAND_DISPLAY: '', BROWSER: '' }
  const env = environment({ PATH: `${programs}:${process.env.PATH}`, ...seen })
  const child = spawn('script', ['-qec', commandLine('open'), '/dev/null'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const said = await text(child.stdout)
  expect(said).toContain('your browser opens it')
  const [link = ''] = /http:\S+/.exec(said) ?? []
  const file = join(cwd, '.meup/open.html')
  const received = (): string => readFileSync(join(programs, 'told'), 'utf8').trim()
  await expect.poll(received).toBe(pathToFileURL(file).href)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(link).toMatch(new RegExp(`^${url}/#/open/[\\w-]{43}$`))
  expect(readFileSync(file, 'utf8')).toContain(`url=${link}"`)
})
