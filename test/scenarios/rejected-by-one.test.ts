import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { drivePage } from '../support/driven-page.js'
import { enterPage, openProposals, openTerminal } from '../support/proposals.js'
import { inTmux, type Pane } from '../support/tmux.js'

const timeout = 60_000
const params = '{"name":"act","arguments":{"order":4711}}'

/** Opens a space in which ben rejects the proposal p1 while ana's client shows it, and cal finally approves it. */
async function stage() {
  const scene = await openProposals()
  const [ben, cal] = [await scene.enter('ben'), await scene.enter('cal')]
  const readRejections = async () => {
    const { proposals } = await scene.http.readProposals()
    return proposals.map(({ id, rejectedBy }) => ({ id, rejectedBy }))
  }
  return {
    ...scene,
    propose: () => scene.propose('p1', params),
    reject: async (): Promise<void> => {
      await expect.poll(() => ben.proposals.get('p1')).toBeDefined()
      await ben.proposals.reject('p1', { reason: 'ben-says-no' })
    },
    readRejections,
    approve: () => cal.proposals.approve('p1'),
  }
}

function enterLine(pane: Pane, line: string): void {
  pane.type(line)
  pane.press('Enter')
}

test(
  'what somebody else has rejected waits at the terminal, and what ana has rejected does not, though others may approve it',
  { timeout },
  inTmux(async () => {
    const scene = await stage()
    const pane = await openTerminal(scene)
    await scene.propose()
    await pane.shows((screen) => expect(screen).toMatch(/^⚠ 1 pending · y\/n/m))
    await scene.reject()
    await pane.sees('ben-says-no')
    await pane.shows((screen) => expect(screen).toMatch(/^⚠ 1 pending · y\/n/m))

    enterLine(pane, '/reject p1 ana-says-no')
    await pane.sees('✓ rejected')
    await pane.shows((screen) => expect(screen).not.toContain('pending ·'))
    enterLine(pane, '/pending')
    await pane.sees('no proposal waits for a decision')
    expect(await scene.readRejections()).toEqual([{ id: 'p1', rejectedBy: ['ben', 'ana'] }])
    expect(await scene.approve()).toMatchObject({ content: [{ text: 'acted' }] })
  }),
)

test(
  'what somebody else has rejected waits on the page, and what ana has rejected does not, though others may approve it',
  { timeout },
  withChromium(async (chromium) => {
    const scene = await stage()
    const page = await drivePage(chromium)
    await enterPage(page, scene.url, scene.readToken('ana'))
    await scene.propose()
    await page.shows('1 pending')
    await scene.reject()
    await page.shows('rejected by ben')
    await page.reload()
    await page.shows('1 pending')
    await page.shows('rejected by ben')

    await page.click('button', 'Reject…')
    await page.click('.decision button', 'Reject')
    await page.shows('rejected by ana')
    await page.hides('pending')
    await page.reload()
    await page.shows('rejected by ana')
    await page.hides('pending')
    expect(await scene.readRejections()).toEqual([{ id: 'p1', rejectedBy: ['ben', 'ana'] }])
    await scene.approve()
    await page.shows('approved by cal')
    expect(page.problems).toEqual([])
  }),
)
