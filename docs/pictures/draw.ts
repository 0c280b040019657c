import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DrivenPage, drivePage } from '../../test/support/driven-page.js'
import { animate } from './animation.js'
import { Recorder } from './recorder.js'
import { openReview, type Review } from './review.js'

const question = 'Should we deploy this auth change?'
const request = 'Then take it out again, please.'
const [columns, rows] = [96, 24]

/**
 * Draws the pictures of README and the pages into a folder. They show one story, on the page and in a terminal at the same
 * time.
 */
export async function drawPictures(chromium: string, folder: string): Promise<void> {
  const review = await openReview()
  const page = await enterPage(chromium, review)
  const terminal = new Recorder(review.folder, columns, rows)
  const picture = async (name: string, width: number, height: number): Promise<void> => {
    await page.resize(width, height)
    await page.evaluate(twoFrames)
    await page.screenshot(join(folder, `${name}.png`))
  }

  await page.shows('What can you do?')
  await picture('page-empty', 1040, 560)
  await terminal.keep(600, '$')
  await terminal.type('meup join')
  terminal.pane.press('Enter')
  await terminal.keep(1200, /ana in deploy-review ─+\n>/)
  await terminal.type(question)
  terminal.pane.press('Enter')
  await terminal.keep(500, `ana: ${question}`)
  await think(review, terminal)
  await page.shows('error rate 0.03 %')
  await picture('page-live', 1040, 640)
  await page.key('2')
  await page.key(']')
  await page.shows('Conversation')
  await page.shows('Do the security tests pass with the change?')
  await picture('page-lanes', 1240, 580)
  await page.key('[')
  await answer(review, terminal)
  await page.key('3')
  await page.key(']')
  await page.shows('auth-token.diff')
  await picture('page-trace', 1240, 560)
  await page.key('[')
  await page.key('1')

  await terminal.type(request)
  terminal.pane.press('Enter')
  review.release.go(4)
  await terminal.keep(2000, '1 pending')
  await page.shows(/release-agent\s+asks for/)
  await page.resize(1280, 1230)
  await openCall(page)
  await picture('page', 1280, 1230)
  await picture('page-phone', 390, 844)
  await theme(page, 'dark')
  await picture('page-dark', 1280, 1230)
  await theme(page, 'auto')
  await panels(page, picture)
  await decide(review, terminal)
  if (page.problems.length > 0) throw new Error(page.problems.join('\n'))
  const title =
    'Two agents review a change, and a third asks before it acts: a recording of a real run of meup join'
  writeFileSync(join(folder, 'terminal.svg'), animate({ title, columns, rows, frames: terminal.frames }))
}

/** Opens a tool call of a run, with its result. */
async function openCall(page: DrivenPage): Promise<void> {
  await page.click('.call-line', 'rollback.md')
  await page.shows('Tell the people on call')
  await page.key('.')
}

async function theme(page: DrivenPage, wanted: string): Promise<void> {
  await page.click('button', 'Settings')
  await page.choose('select[name=theme]', wanted)
  await page.click('dialog button', 'Close')
  await page.evaluate(twoFrames)
}

/** Draws the panels next to the conversation. */
async function panels(
  page: DrivenPage,
  picture: (name: string, width: number, height: number) => Promise<void>,
): Promise<void> {
  await page.click('.inbox-button')
  await page.shows('what led to it')
  await picture('page-inbox', 1240, 640)
  await page.key('Escape')
  await page.key('p')
  await page.key('w')
  await page.shows('Why')
  await picture('page-why', 1240, 640)
  await page.key('Escape')
  await page.key('/')
  await page.type('input[name=query]', 'token')
  await page.hides('Searching')
  await picture('page-find', 1240, 640)
  await page.click('.find header button')
  await page.click('.who', 'security-agent')
  await page.shows('May do')
  await picture('page-person', 1240, 640)
  await page.key('Escape')
  await page.click('button', 'audit')
  await page.shows('compared')
  await picture('page-audit', 1040, 560)
  await page.click('dialog button', 'Close')
}

/** Waits until the page has drawn its changes. */
const twoFrames = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))'

async function enterPage(chromium: string, { url, token }: Review): Promise<DrivenPage> {
  const page = await drivePage(chromium)
  await page.resize(1040, 640)
  await page.goTo(`${url}/#/s/deploy-review`)
  await page.type('input[name=token]', token)
  await page.click('button[type=submit]')
  await page.shows('live')
  return page
}

/** Lets both agents read and think, but not finish. */
async function think({ security, performance }: Review, terminal: Recorder): Promise<void> {
  security.go(1)
  await terminal.keep(500, 'security-agent ┄')
  performance.go(1)
  await terminal.keep(700, 'perf-agent ┄')
  security.go(1)
  await terminal.keep(1200, 'numTotalTestSuites')
  performance.go(1)
  await terminal.keep(900, /perf-agent {2}● read_text_file/)
  security.go(2)
  await terminal.keep(900, '2 of 14 security tests failed')
  performance.go(2)
  await terminal.keep(600, 'error rate 0.03 %')
}

async function answer({ security, performance }: Review, terminal: Recorder): Promise<void> {
  security.go(3)
  await terminal.keep(1000, 'expired token after it was used often')
  performance.go(1)
  await terminal.keep(700, 'throughput 581/s')
  performance.go(2)
  await terminal.keep(1200, 'perf-agent: Performance: I recommend deploying')
  security.go(2)
  await terminal.keep(900, 'The likely cause is')
  security.go(2)
  await terminal.keep(900, 'There is a rollback plan')
  security.go(2)
  await terminal.keep(3000, 'that is too risky')
}

/** Approves in the terminal. The card on the page closes by itself. */
async function decide({ release }: Review, terminal: Recorder): Promise<void> {
  await terminal.type('y')
  terminal.pane.press('Enter')
  await terminal.keep(900, '✓ approved: reverted auth-token')
  release.go(2)
  await terminal.keep(5000, 'release-agent: Done: reverted auth-token')
}
