import { testToken } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { barriers } from '../support/axe.js'
import { spawnMeup } from '../support/cli.js'
import { tokenIn } from '../support/crowd.js'
import { onPage } from '../support/page.js'
import { terminalSpace } from '../support/terminal.js'
import { placeOf, words, writeAnswers } from '../support/writing.js'

test(
  'a reader who looks back, comes late, or looks at the past is left alone by what is written',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const planner = await writeAnswers({ url: gateway.url, space: 'demo', token: testToken('planner') })
    const ana = await gateway.enter('ana')
    for (let at = 0; at < 25; at++) await ana.chat(`said before ${at}`)
    await enter()
    await page.shows('said before 24')
    // Deltas are only sent to clients that have received the whole log: wait until the page shows the question.
    await ana.send({ id: 'q', kind: Kind.chat, payload: { message: 'Why?' } })
    await page.shows('Why?')
    await planner.write('q', words.slice(0, 40))
    await page.shows('word39.')
    await page.evaluate(`document.querySelector('.scroller').scrollTop -= 200`)
    await page.shows('↓ live')
    const place = await page.evaluate(placeOf('word0'))
    await planner.write('q', words.slice(40), 40)
    await page.shows('word79.')
    expect(await page.evaluate(placeOf('word0'))).toEqual(place)
    planner.answer('q', words.join(''))
    await page.shows('↓ 1 new')
    expect(await page.evaluate(placeOf('word0'))).toEqual(place)

    await ana.send({ id: 'r', kind: Kind.chat, payload: { message: 'And why that?' } })
    await planner.write('r', ['```\nnever', 'closed <img src=x onerror="document.title=1">\n'])
    await page.click('.newer')
    await page.shows('neverclosed <img')
    await page.key('2')
    await page.shows('Conversation')
    await page.shows('neverclosed <img')
    expect(await barriers(page)).toEqual([])
    await page.key('1')
    await page.key(' ')
    await page.hides('neverclosed <img')
    await page.key('.')
    await page.shows('neverclosed <img')

    await page.reload()
    await page.shows('And why that?')
    await planner.write('r', ['and more'], 2)
    await planner.write('s', ['another'])
    await page.shows('another')
    expect(await page.text()).not.toMatch(/never|and more/)
    planner.answer('r', 'whole')
    await page.shows('whole')
  }),
)

test('programs are given what is in the log, and what is being written if they ask for it', {
  timeout: 60_000,
}, async () => {
  const { cwd, url, enter } = await terminalSpace([])
  const planner = await writeAnswers({ url, space: 'demo', token: tokenIn(cwd, 'planner') })
  const ana = await enter('ana')
  await ana.send({ id: 'q', kind: Kind.chat, payload: { message: 'Why?' } })
  const [all, lines, parts] = [['--json'], [], ['--json', '--kind', 'chat.delta']].map((args) =>
    spawnMeup(['watch', '--from', '1', ...args], cwd),
  )
  for (const each of [all, lines]) await expect.poll(() => each?.said.stdout).toContain('Why?')
  const getParts = (): string | undefined => {
    planner.delta('q', 0, 'I write')
    return parts?.said.stdout
  }
  await expect.poll(getParts).toContain('I write')
  planner.answer('q', 'because')
  for (const each of [all, lines]) {
    await expect.poll(() => each?.said.stdout).toContain('because')
    expect(each?.said.stdout).not.toMatch(/I write|chat\.delta/)
  }
  expect(parts?.said.stdout).not.toContain('because')
})
