import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway, serve, sqliteStore, tokenAuthenticator } from '@meup/gateway'
import { testSpaceConfig, testToken } from '@meup/gateway/testing'
import { pageDirectory } from '@meup/observer'
import { openBrowser } from '../test/support/browser.js'
import { chatter } from './support/chatter.js'
import { conversation } from './support/conversation.js'
import { Tab } from './support/tab.js'

/**
 * Measures the page with a long log and a busy one in a real browser. Tasks are measured in processor time, which is
 * independent of other load.
 */
const size = Number(process.env.ENVELOPES ?? 100_000)
const seconds = Number(process.env.SECONDS ?? 60)
const perSecond = 500
/** Number of agents in the log, and of those that continue to send during the measurement. */
const [agents, speakers] = [50, 10]
const names = ['ana', 'files', ...Array.from({ length: agents }, (_, i) => `agent-${i}`)]
const config = testSpaceConfig({ participants: Object.fromEntries(names.map((id) => [id, ['*']])) })
const folder = mkdtempSync(join(tmpdir(), 'meup-bench-'))

const store = await sqliteStore({ path: join(folder, 'space.db') })
const log = await store.open(config.name)
for (let seq = 1; seq <= size; seq += 500) {
  await log.append(conversation(seq, Math.min(500, size - seq + 1), { agents }))
}
const tokens = Object.fromEntries(names.map((id) => [id, testToken(id)]))
const authenticator = tokenAuthenticator({ [config.name]: tokens })
const gateway = await createGateway({ spaces: [config], store, authenticator })
const { url, close } = await serve({ gateway, host: '127.0.0.1', port: 0, page: pageDirectory })
/** Runs each measurement in a browser with a new profile, without caches. */
async function withTab(work: (tab: Tab) => Promise<void>): Promise<void> {
  const profile = mkdtempSync(join(folder, 'profile-'))
  const browser = await openBrowser(process.env.CHROMIUM_BIN ?? '/usr/bin/chromium', profile)
  try {
    await work(await Tab.open(browser, { url, space: config.name, token: testToken('ana') }))
    if (browser.problems.length > 0) throw new Error(`the page had problems: ${browser.problems.join('\n')}`)
  } finally {
    await browser.close()
  }
}

const report = (what: string, value: string, goal: string): void =>
  console.log(`${what.padEnd(52)} ${value.padStart(16)}   ${goal}`)
const views = ['stream', 'lanes', 'trace'] as const
const ms = (value: number): string => `${Math.round(value)} ms`
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
/** Returns the private memory of a process, plus its share of shared memory. */
const memoryOf = (pid: number): number =>
  1024 * Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1])

async function memory(tab: Tab): Promise<void> {
  report('first useful paint', ms(await tab.firstLine()), 'under 2000 ms')
  report('the whole log is there after', ms(await tab.loaded(size)), '')
  report('heap', megabytes(await tab.heap()), 'under 250 MB')
  report('process', megabytes(memoryOf(await tab.pid())), 'under 250 MB')
  for (const view of views) {
    await tab.turnTo(view)
    await tab.scroll()
    await tab.press(']')
  }
  report('heap after all views, unfolded', megabytes(await tab.heap()), 'under 250 MB')
  report('process', megabytes(memoryOf(await tab.pid())), 'under 250 MB')
}

async function tasks(tab: Tab): Promise<void> {
  const loading = await tab.trace(async () => void (await tab.loaded(size)))
  report('longest task while it loads', ms(loading.longest), 'under 100 ms')
  for (const view of views) {
    const turning = await tab.trace(() => tab.turnTo(view))
    report(`longest task when turning to the ${view}`, ms(turning.longest), 'under 100 ms')
    const scrolling = await tab.trace(() => tab.scroll())
    report(`longest task while scrolling the ${view}`, ms(scrolling.longest), 'under 100 ms')
  }
  await tab.turnTo('stream')
  for (const [what, work] of choices(tab)) {
    const choosing = await tab.trace(work)
    report(`longest task when ${what}`, ms(choosing.longest), 'under 100 ms')
  }
  for (const [key, what] of [
    [']', 'unfolding'],
    ['[', 'folding'],
  ] as const) {
    const folding = await tab.trace(() => tab.press(key))
    report(`longest task of ${what} everything`, ms(folding.longest), 'under 100 ms')
  }
}

/** Actions on the page that change which lines of the whole log are shown. */
const choices = (tab: Tab): readonly (readonly [what: string, work: () => Promise<void>])[] => [
  ['messages alone are shown', () => tab.choose('[data-sort=chat]')],
  ['everything is shown again', () => tab.choose('.widen')],
  ['thoughts are hidden', () => tab.choose('[aria-label="Hide the thoughts of agent-7"]')],
  ['the search begins', async () => void (await tab.search('build 77'))],
  ['the search ends', () => tab.choose('.find header button')],
  ['time goes back to the middle', () => tab.scrub(0.5)],
  ['time goes back a little', () => tab.scrub(0.49)],
  ['the present comes back', () => tab.choose('.scrubber .live')],
]

async function search(tab: Tab): Promise<void> {
  await tab.loaded(size)
  report('first hits of a word', ms(await tab.search('build 77')), 'under 1000 ms')
}

async function live(tab: Tab): Promise<void> {
  await tab.loaded(size)
  const task = async (): Promise<void> => {
    const { behind, last } = await tab.follow(() =>
      chatter({ url, space: config.name, agents: speakers, perSecond, seconds }),
    )
    const part = (of: number): number => behind[Math.floor(behind.length * of)] ?? Number.NaN
    report(`${perSecond}/s for ${seconds} s: behind, as a rule`, ms(part(0.5)), '')
    report('behind, one time in a hundred', ms(part(0.99)), '')
    report('behind at the end', ms(last), 'under 1000 ms')
  }
  const { longest, busy } = await tab.trace(task)
  report('longest task meanwhile', ms(longest), 'under 100 ms')
  report('of the time of one processor', `${Math.round(busy / seconds / 10)} %`, 'under 100 %')
  report('heap after that', megabytes(await tab.heap()), 'under 250 MB')
}

try {
  console.log(`${size} envelopes; load of the machine: ${loadavg()[0]?.toFixed(1)}`)
  for (const measure of [memory, tasks, search, live]) await withTab(measure)
} finally {
  await close()
  rmSync(folder, { recursive: true, force: true })
}
