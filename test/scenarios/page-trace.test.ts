import { expect, test } from 'vitest'
import type { DrivenPage } from '../support/driven-page.js'
import { approveByKey, crew, onPage, type openPageGateway, pictures } from '../support/page.js'

type PageGateway = Awaited<ReturnType<typeof openPageGateway>>

const texts = (page: DrivenPage, selector: string): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.innerText)`)

const questions = '.question-line:not(.head) .question-text'

/**
 * Asks three questions: one answered with a call, one answered with more tokens and a failed call, and one that is still open.
 */
async function askThree(gateway: PageGateway) {
  const { planner } = await crew(gateway)
  const ana = await gateway.enter('ana')
  const usage = (input: number, cost: number) => ({
    metadata: { tokens: { input, output: 100, cached: 300 }, cost, model: 'large-2' },
  })
  const going = new Promise<string>((resolve) => {
    void planner.answer(async (turn) => {
      const { text: message } = turn
      const run = await turn.reason(`About: ${message}`)
      if (message === 'Can it go out?') {
        resolve(run.context)
        return new Promise<void>((stopped) => run.signal.addEventListener('abort', () => stopped()))
      }
      await run.thought('The diff says it.')
      await run.call('repo/read_diff', { from: '1.4.1' }, { why: 'to see what goes out' })
      if (message === 'Is it clean?') {
        await run.call('repo/lint', { path: 'a.ts' }, { why: 'the gate' }).catch(() => undefined)
        await run.conclude('It is not', usage(9000, 0.31))
        return turn.reply('It is not.')
      }
      await run.conclude('Three files', usage(1000, 0.02))
      return turn.reply('It changes **three** files.', { format: 'markdown' })
    })
  })
  for (const [question, answer] of [
    ['What does the diff change?', 'It changes'],
    ['Is it clean?', 'It is not.'],
  ] as const) {
    const answered = new Promise<void>((resolve) => {
      ana.on('envelope', ({ kind, payload }) => {
        if (kind === 'chat' && String(Object(payload).message).startsWith(answer)) resolve()
      })
    })
    await ana.chat(question)
    await answered
  }
  await ana.chat('Can it go out?')
  return { planner, context: await going }
}

test(
  'the trace has a table of questions, the steps of one over time, and what went in and out of a step',
  { timeout: 120_000 },
  onPage(async ({ gateway, page, enter }) => {
    await askThree(gateway)
    await enter()
    await page.resize(1440, 900)
    await page.shows('It is not.')
    await page.key('3')
    await page.shows('3 of 3')
    expect(await page.text()).toMatch(/p50 \S+ m?s · p95 \S+ m?s/)
    expect(await texts(page, questions)).toEqual([
      'Can it go out?',
      'Is it clean?',
      'What does the diff change?',
    ])
    // Sort by tokens, largest first. The question with the most tokens also has the failed call.
    await page.click('.question-line.head button', 'Tokens')
    await expect
      .poll(() => texts(page, questions))
      .toEqual(['Is it clean?', 'What does the diff change?', 'Can it go out?'])
    expect(await texts(page, '.question-line:not(.head):nth-of-type(2) [role=cell]')).toMatchObject({
      ...{ 3: '9.1K', 4: '$0.31', 5: '✕ 1' },
    })
    await page.type('.question-table input[type=search]', 'diff')
    await page.shows('1 of 3')
    await page.click('.question-line .link', 'What does the diff change?')
    await expect.poll(() => texts(page, '.trace-detail h2')).toEqual(['ana asks'])
    const detail = (): Promise<string> => page.evaluate(`document.querySelector('.trace-detail').innerText`)
    await expect.poll(detail).toMatch(/Input\s+What does the diff change\?\s+Output\s+It changes three files/)
    expect(await detail()).toMatch(
      /model\s+large-2[\s\S]*tokens in\s+1,000[\s\S]*cached\s+300[\s\S]*cost\s+\$0.0200/,
    )

    // The trace shows all steps down to calls, even those that are folded in the conversation. Bars have a class by kind, and
    // thoughts are ticks.
    expect(await texts(page, '.fall .what')).toMatchObject([
      expect.stringContaining('planner'),
      expect.stringContaining('read_diff'),
    ])
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('.times .bar')].map((bar) => [bar.className.split(' ')[1], bar.offsetHeight])`,
      ),
    ).toEqual([
      ['think', 16],
      ['call', 16],
    ])
    expect(await page.evaluate(`document.querySelector('.times .thought-tick').title`)).toBe(
      'The diff says it.',
    )
    expect(await texts(page, '.legend > span')).toEqual([
      ...['thinks', 'calls', 'waits for a person', 'was stopped', 'failed', 'thought'],
    ])
    await page.click('.fall .what', 'read_diff')
    await expect.poll(detail).toMatch(/from\s*.*1\.4\.1[\s\S]*three files changed, 48 lines/)
    await page.evaluate('document.activeElement.blur()')
    await page.key('ArrowUp')
    await expect.poll(detail).toMatch(/planner[\s\S]*Output/)
    await page.screenshot(pictures('trace'))
    const widths = `[...document.querySelectorAll('.trace-panes > *')].map((each) => each.offsetWidth)`
    const [left = 0, , right] = await page.evaluate<number[]>(widths)
    expect([left, right]).toEqual([300, 360])
    for (const [width, height] of [
      [1024, 768],
      [390, 844],
    ] as const) {
      await page.resize(width, height)
      expect(await page.evaluate('document.body.scrollWidth <= innerWidth')).toBe(true)
      await page.screenshot(pictures(`trace-${width}`))
    }
  }),
)

test(
  'two questions stand side by side, with what differs marked',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    await askThree(gateway)
    await enter()
    await page.resize(1440, 900)
    await page.shows('It is not.')
    await page.key('3')
    await page.shows('3 of 3')
    await page.click('[aria-label="Compare: Is it clean?"]')
    await page.click('[aria-label="Compare: What does the diff change?"]')
    await page.shows('Side by side')
    const rows = `[...document.querySelectorAll('.comparison tr')].map((row) =>
      [row.className, ...[...row.children].map((cell) => cell.innerText)])`
    const compared = await page.evaluate<string[][]>(rows)
    expect(compared.find(([, name]) => name === 'tokens in')).toEqual([
      'differs',
      'tokens in',
      '1,000',
      '9,000',
    ])
    expect(compared.find(([, name]) => name === 'model')).toEqual(['', 'model', 'large-2', 'large-2'])
    const steps = compared.filter(([, , one = '', other = '']) => /read_diff|lint/.test(one + other))
    expect(steps.map(([kind, , one, other]) => [kind, one, other])).toEqual([
      ['', '· read_diff 1.4.1', '· read_diff 1.4.1'],
      ['differs', '–', '· lint a.ts ✕'],
    ])
    await page.screenshot(pictures('trace-comparison'))
    await page.click('.comparison button', 'Back to the steps')
    await page.shows('waits for a person')
  }),
)

test(
  'what waits for a person is decided beside its bar, by keys',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { context, planner } = await askThree(gateway)
    await enter()
    await page.shows('It is not.')
    await page.key('3')
    const proposed = planner.propose({
      ...{ to: 'deploy', method: 'tools/call', params: { name: 'release', arguments: { version: 'two' } } },
      ...{ context, rationale: 'it is ready' },
    })
    await page.shows('waits for a decision')
    await expect
      .poll(() => page.evaluate(`document.querySelectorAll('.times .bar.wait.live').length`))
      .toBe(1)
    await approveByKey(page)
    await page.hides('waits for a decision')
    await proposed
  }),
)

/**
 * Code in the page that measures how many milliseconds the main thread takes for an action and for drawing it. Takes the best
 * of several tries, because the machine may be busy.
 */
const timeOf = (act: string, undo: string): string => `(async () => {
  const settle = async () => { for (let turns = 0; turns < 10; turns++) await Promise.resolve() }
  const times = []
  for (let tries = 0; tries < 5; tries++) {
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))
    const begun = performance.now()
    ;${act};
    await settle()
    document.body.offsetHeight
    times.push(performance.now() - begun)
    ;${undo};
    await settle()
  }
  return Math.min(...times)
})()`

test(
  'the trace of 4,500 envelopes is drawn within 80 ms',
  { timeout: 120_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    const ana = await gateway.enter('ana')
    for (let from = 0; from < 300; from += 50) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, at) => {
          const asked = await ana.chat(`Question ${from + at}`)
          const run = await planner.send({ kind: 'reasoning.start', correlationId: asked.id, payload: {} })
          for (let step = 0; step < 12; step++) {
            const payload = { message: `Step ${step} of it.` }
            await planner.send({ kind: 'reasoning.thought', context: run.id, payload })
          }
          await planner.send({ kind: 'reasoning.conclusion', context: run.id, payload: { message: 'so' } })
        }),
      )
    }
    await enter()
    await page.shows('Question 299')
    await page.key('3')
    await page.shows('300 of 300')
    const [turn, back] = [
      `document.getElementById('view-trace').click()`,
      `document.getElementById('view-stream').click()`,
    ]
    await page.key('1')
    const opening = await page.evaluate<number>(timeOf(turn, back))
    await page.key('3')
    await page.shows('300 of 300')
    const header = (label: string): string =>
      `[...document.querySelectorAll('.question-line.head button')].find(({ textContent }) => textContent.startsWith('${label}')).click()`
    const sorting = await page.evaluate<number>(timeOf(header('Took'), header('Newest')))
    console.info(`the trace opens in ${opening.toFixed(0)} ms and sorts in ${sorting.toFixed(0)} ms`)
    expect(Math.max(opening, sorting)).toBeLessThan(80)
  }),
)
