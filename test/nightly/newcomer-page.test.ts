import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { meup, temporaryFolder } from '../support/cli.js'
import { type DrivenPage, drivePage } from '../support/driven-page.js'
import { pictures } from '../support/page.js'
import { inTmux, openPane } from '../support/tmux.js'

const timeout = 300_000
const quietly = { env: { NO_COLOR: '1', npm_config_update_notifier: 'false' } }
const patience = { timeout: 60_000 }

const thought = 'The change is small; the test report decides'
const answer = 'I recommend against deploying: FAIL 2 token expires'

/** Counts how often the conversation shows a text, without announcements for screen readers. */
const times = async (page: DrivenPage, text: string): Promise<number> =>
  (await page.evaluate<string>("document.querySelector('.view').innerText")).split(text).length - 1

/** Waits for a text that depends on an agent or the space. */
const sees = async (page: DrivenPage, text: string | RegExp): Promise<void> =>
  void (await expect.poll(() => page.text(), patience).toMatch(text))

async function ask(page: DrivenPage, question: string): Promise<void> {
  await page.type('textarea', question)
  await page.key('Enter')
  await page.shows(question)
  await page.evaluate('document.activeElement.blur()') // Without focus in the input, keys act on the lines.
}

/** Whether the page lists this participant as present. */
const isHere = (page: DrivenPage, id: string): Promise<boolean> =>
  page.evaluate(
    `[...document.querySelectorAll('.people li:not(.away)')].some((each) => each.textContent.includes('${id}'))`,
  )

const scenario = (chromium: string) =>
  inTmux(async () => {
    const cwd = temporaryFolder()
    const made = await meup(['init', 'my-space', '--person', 'ana', '--listen', '127.0.0.1:0'], { cwd })
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('npx meup open for the page')])
    const [go = '', up = ''] = made.stdout.split('\n')
    const space = openPane(`${go} && ${up} --watch`, { cwd, columns: 100, ...quietly })
    await space.sees('listening on http://127.0.0.1:', 90_000)

    // The link signs the user in, and is removed from the address bar; it works only once.
    const terminal = openPane(`${go} && npx meup open --no-browser`, { cwd, columns: 100, ...quietly })
    await terminal.sees('ended 0', 90_000)
    const [, link = '', code = ''] = /(http:\/\/\S+#\/open\/(\S+))/.exec(terminal.all()) ?? []
    expect(code.length).toBeGreaterThan(20)
    const [page, other] = [await drivePage(chromium), await drivePage(chromium)]
    await page.resize(1280, 800)
    await page.goTo(link)
    await sees(page, 'my-space')
    await sees(page, 'live')
    await expect.poll(() => page.evaluate('location.href')).not.toContain(code)
    await other.goTo(link)
    await other.shows(/token/i)
    await expect.poll(() => isHere(page, 'reviewer'), patience).toBe(true)
    await expect.poll(() => isHere(page, 'files'), patience).toBe(true)

    // Ask a question, and watch the agent answer.
    await ask(page, 'Can we deploy?')
    await sees(page, answer)
    await page.shows(/Thought [\d.]+ m?s · (?:1 tool|read 1 file|ran 1 command)/)
    await page.key(']')
    await page.shows(thought)
    await page.shows('what fails decides')
    await page.screenshot(pictures('newcomer-watched'))

    // Hide the thoughts: earlier ones disappear, and later ones are not even sent.
    await page.click('button', 'Hide the thoughts of reviewer')
    await page.hides(thought)
    await page.shows(/thoughts? of reviewer\s+by you/)
    await page.shows(answer)
    await page.click('button', 'Show the thoughts of reviewer')
    await page.shows(thought)
    await page.key('r')
    await page.shows('by you, at the gateway')
    await ask(page, 'And in the evening?')
    await expect.poll(() => times(page, answer), patience).toBe(2)
    await page.shows(/hidden \d+ · .* saved/)
    expect(await times(page, thought)).toBe(0)
    await page.screenshot(pictures('newcomer-hidden'))
    await page.click('.hidden-list button', 'show')
    await page.hides('by you, at the gateway')
    await page.key(']')
    await expect.poll(() => times(page, thought), patience).toBe(2)

    // Take away the agent's right to call a tool, so that its call is denied.
    const file = join(cwd, 'my-space/space.yaml')
    const yaml = readFileSync(file, 'utf8')
    const may = ', { kind: mcp.request, to: files }]'
    expect(yaml).toContain(may)
    writeFileSync(file, yaml.replace(may, ']'))
    await space.sees('reviewer has other capabilities')
    await ask(page, 'And now?')
    await sees(page, /is not allowed to send/)
    // The owner sees the refusal, and gets a form that allows the call.
    await sees(page, /mcp\.request read_text_file denied: it lacks \{"tool":"files\/read_text_file"\}/)
    await page.click('.line.problem button', 'Allow…')
    const form = "document.querySelector('form.grant textarea[name=capabilities]')?.value"
    await expect.poll(() => page.evaluate(form)).toBe('{"tool":"files/read_text_file"}')
    await page.click('.inspector.person header button', 'Close')
    await page.screenshot(pictures('newcomer-denied'))

    // Let the agent propose calls, and approve one. The agent's program ended with the error, and is restarted.
    writeFileSync(file, yaml.replace(may, ', mcp.proposal, mcp.withdraw]'))
    const changes = () => space.all().split('reviewer has other capabilities').length - 1
    await expect.poll(changes, patience).toBe(2)
    await expect.poll(() => isHere(page, 'reviewer'), patience).toBe(true)
    await ask(page, 'And with my leave?')
    await sees(page, /reviewer\s+asks for\s+read_text_file\s+of files/)
    await page.shows('"path": "report.txt"')
    expect(await times(page, answer)).toBe(2)
    await page.screenshot(pictures('newcomer-asked'))
    await page.click('.decision button', 'Approve')
    await expect.poll(() => times(page, answer), patience).toBe(3)
    await page.key(']') // Folds the concluded reasoning.
    await sees(page, 'approved by ana')
    await page.screenshot(pictures('newcomer-approved'))
    expect(page.problems).toEqual([])

    space.press('C-c')
    await space.sees(/ended (0|130)$/)
  })

test(
  'from an empty folder to a page on which an agent answers, is watched, hidden, denied and approved',
  withChromium((chromium, context) => scenario(chromium)(context)),
  timeout,
)
