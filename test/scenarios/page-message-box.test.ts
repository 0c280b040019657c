import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { type DrivenPage, drivePage } from '../support/driven-page.js'
import { enterAs, onPage, openPageGateway, pictures } from '../support/page.js'
import { proxy } from '../support/proxy.js'

const timeout = 90_000

const field = `document.querySelector('.message-box textarea')`
const written = (page: DrivenPage): Promise<string> => page.evaluate(`${field}.value`)
const note = (page: DrivenPage): Promise<string> =>
  page.evaluate(`document.querySelector('.message-box .note').textContent`)

test(
  'one agent is asked from anywhere by c, @pl and Enter, a text and Enter: everyone reads it',
  onPage(async ({ gateway, page, enter }) => {
    const [planner, eve] = [await gateway.enter('planner'), await gateway.enter('eve')]
    const heard: unknown[] = []
    eve.on('envelope', ({ kind, to, payload }) => kind === 'chat' && heard.push([to, payload]))
    const asked: unknown[] = []
    planner.on('envelope', (each) => {
      if (each.kind === 'chat') asked.push(planner.isAsked(each as never))
    })
    await enter()
    await page.shows('planner')
    await page.evaluate(`document.activeElement.blur()`)
    let acts = 0
    const act = async (work: () => Promise<void>): Promise<void> => {
      acts++
      await work()
    }
    await act(() => page.key('c'))
    expect(await page.evaluate(`document.activeElement === ${field}`)).toBe(true)
    await act(async () => {
      await page.type('.message-box textarea', '@pl')
      await page.shows('agent')
      await page.key('Enter')
    })
    expect(await written(page)).toBe('@planner ')
    await act(() => page.type('.message-box textarea', 'What is next?'))
    expect(await page.evaluate(`document.querySelector('.mirror mark').textContent`)).toBe('@planner')
    expect(await note(page)).toBe('planner answers')
    await page.screenshot(pictures('message-box'))
    await act(() => page.key('Enter'))
    expect(acts).toBe(4)
    expect(await written(page)).toBe('')
    await expect
      .poll(() => heard)
      .toEqual([[undefined, { message: '@planner What is next?', mentions: ['planner'] }]])
    await expect.poll(() => asked).toEqual([true])
  }),
  timeout,
)

test(
  'names are meant wherever they stand, in code they are not, and one that nobody has is said to be unknown',
  onPage(async ({ gateway, page, enter }) => {
    await gateway.enter('planner')
    const eve = await gateway.enter('eve')
    const heard: unknown[] = []
    eve.on('envelope', ({ kind, payload }) => kind === 'chat' && heard.push(payload))
    await enter()
    await page.shows('planner')
    const lines = [
      '@planner, @security: look',
      'as `@planner` says',
      'ask@planner.example',
      '(@planner) @planner.',
    ]
    for (const line of lines) {
      await page.type('.message-box textarea', line)
      await page.key('Escape')
      await page.type('.message-box textarea', ' ')
      await page.key('Enter')
      await expect.poll(() => written(page)).toBe('')
    }
    const sent = (message: string, mentions: string[]) => ({
      message,
      ...(mentions.length > 0 && { mentions }),
    })
    await expect
      .poll(() => heard)
      .toEqual([
        sent(lines[0] ?? '', ['planner', 'security']),
        sent(lines[1] ?? '', []),
        sent(lines[2] ?? '', []),
        sent(lines[3] ?? '', ['planner']),
      ])
    await page.type('.message-box textarea', '@planer is it done?')
    await expect.poll(() => note(page)).toBe('No participant is called planer. Did you mean @planner?')
  }),
  timeout,
)

test(
  'a private message is chosen, looks private in the box and where it stands, and its names ask nobody else',
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    const heard: unknown[] = []
    planner.on('envelope', ({ kind, to, payload }) => kind === 'chat' && heard.push([to, payload]))
    await enter()
    await page.evaluate(`{ const list = document.querySelector('[aria-label="Readers"]')
      list.value = 'planner'; list.dispatchEvent(new Event('change', { bubbles: true })) }`)
    const isPrivate = `document.querySelector('.message-box').matches('.private')`
    await expect.poll(() => page.evaluate(isPrivate)).toBe(true)
    expect(await page.evaluate(`${field}.placeholder`)).toBe('Only planner reads this')
    await page.type('.message-box textarea', 'the secret is 7, not for @eve though')
    expect(await note(page)).toBe('eve cannot read this: it is for planner alone')
    await page.key('Enter')
    await expect
      .poll(() => heard)
      .toEqual([[['planner'], { message: 'the secret is 7, not for @eve though' }]])
    await page.shows('only planner')
    expect(
      await page.evaluate(`document.querySelector('.message-text .chip.private').textContent.trim()`),
    ).toBe('only planner')
    await page.screenshot(pictures('message-private'))
    expect(await page.evaluate(isPrivate)).toBe(true)
  }),
  timeout,
)

test(
  'a sent message is on the screen in the same frame, pale until the gateway has it; what is refused can be sent again',
  { timeout: 120_000 },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway({ limits: { rates: { chat: { perSecond: 0.05, burst: 2 } } } })
    await gateway.enter('planner')
    await using line = await proxy(Number(new URL(gateway.url).port))
    const page = await drivePage(chromium)
    await enterAs(page, line.url, 'ana')
    await page.type('.message-box textarea', 'first')
    await page.key('Enter')
    await page.shows('first')
    await expect.poll(() => page.evaluate(`document.querySelectorAll('.outgoing').length`)).toBe(0)
    await page.type('.message-box textarea', 'under way')
    // The connections of the page fall silent, so that there is no acknowledgement.
    const drop = line.stop()
    const shown = await page.evaluate(`new Promise((resolve) => {
      ${field}.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
      requestAnimationFrame(() => {
        const row = document.querySelector('.outgoing')
        resolve([row?.textContent.includes('under way'), row && getComputedStyle(row).opacity, ${field}.value])
      })
    })`)
    expect(shown).toEqual([true, '0.6', ''])
    await page.screenshot(pictures('message-under-way'))
    await page.reload()
    drop()
    await page.shows('not sent: not acknowledged')
    await page.click('.outgoing button', 'Retry')
    await expect.poll(() => page.evaluate(`document.querySelectorAll('.outgoing').length`)).toBe(0)
    await page.shows('under way')
    await page.type('.message-box textarea', 'too much')
    await page.key('Enter')
    await page.shows('not sent')
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.outgoing')).opacity`)).toBe('1')
    await page.click('.outgoing button', 'Discard')
    await page.hides('too much')
  }),
)

test(
  'the button stops the runs that answer this reader, and says so at once',
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    const security = await gateway.enter('security')
    const other = await security.reason('on its own')
    await enter()
    await page.type('.message-box textarea', '@planner What is next?')
    const question = new Promise<{ id: string }>((resolve) =>
      planner.on('envelope', (each) => each.kind === 'chat' && resolve(each)),
    )
    await page.key('Enter')
    const run = await planner.send({
      kind: 'reasoning.start',
      correlationId: (await question).id,
      payload: {},
    })
    const stopped = new Promise((resolve) =>
      planner.on('envelope', ({ kind, context }) => kind === 'reasoning.cancel' && resolve(context)),
    )
    const label = `document.querySelector('.message-box .round').getAttribute('aria-label')`
    await expect.poll(() => page.evaluate(label)).toBe('Stop')
    await page.click('.message-box .stop')
    expect(await page.evaluate(label)).toBe('Stopping…')
    expect(await stopped).toBe(run.id)
    await planner.send({ kind: 'reasoning.cancel', context: run.id, payload: {} })
    await expect.poll(() => page.evaluate(label)).toBe('Send')
    await other.conclude('done')
  }),
  timeout,
)

test(
  'commands have the names of a terminal, are completed, and say what is wrong with them',
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    const heard: unknown[] = []
    planner.on('envelope', ({ kind, to, payload }) => kind === 'chat' && heard.push([to, payload]))
    await enter()
    const say = async (line: string): Promise<void> => {
      await page.type('.message-box textarea', line)
      await page.key('Enter')
    }
    await page.type('.message-box textarea', '/pen')
    await page.shows('what waits for a decision')
    await page.key('Enter')
    expect(await written(page)).toBe('/pending ')
    await page.key('Enter')
    await page.shows('Nothing waits for your decision.')
    await page.key('Escape')
    await page.key('Escape')
    await page.hides('Nothing waits for your decision.')
    await say('/msg planner only you')
    await say('/think high ')
    await say('how?')
    await expect
      .poll(() => heard)
      .toEqual([
        [['planner'], { message: 'only you' }],
        [undefined, { message: 'how?', thinkingLevel: 'high' }],
      ])
    await say('/pauze planner')
    await expect.poll(() => note(page)).toBe('There is no /pauze. Did you mean /pause?')
    await page.evaluate(`${field}.select()`)
    await say('//etc is a folder')
    await page.shows('/etc is a folder')
  }),
  timeout,
)

test(
  'a command leaves the box at once, while its code is still loading',
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    const heard: unknown[] = []
    planner.on('envelope', ({ kind, payload }) => kind === 'chat' && heard.push(payload.message))
    await enter()
    await page.type('.message-box textarea', '')
    const left = await page.evaluate(`(async () => {
      const drawn = async () => { for (let turn = 0; turn < 10; turn++) await null }
      document.execCommand('insertText', false, '/msg planner only you')
      await drawn()
      ${field}.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
      await drawn()
      return ${field}.value
    })()`)
    expect(left).toBe('')
    await page.type('.message-box textarea', 'how?')
    await page.key('Enter')
    await expect.poll(() => heard.toSorted()).toEqual(['how?', 'only you'])
  }),
  timeout,
)

test(
  'the time bar opens by a clock, and takes no room before',
  onPage(async ({ gateway, page, enter }) => {
    await gateway.enter('planner')
    await enter()
    expect(await page.evaluate(`document.querySelector('.scrubber')`)).toBeNull()
    await page.click('button', 'Look back in time')
    await page.shows('LIVE')
    await page.click('button', 'Close the time bar')
    await page.hides('LIVE')
  }),
  timeout,
)

test(
  'a typed character takes 8 ms of the main thread at most, beside 400 lines and 12 participants',
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    for (let at = 0; at < 200; at++) await planner.chat(`line ${at}`)
    await enter()
    await page.shows('line 199')
    await page.type('.message-box textarea', '@planner ')
    const times = await page.evaluate<number[]>(`(async () => {
      const field = ${field}
      const times = []
      for (let at = 0; at < 60; at++) {
        const begun = performance.now()
        field.setRangeText('x', field.value.length, field.value.length, 'end')
        field.dispatchEvent(new InputEvent('input', { bubbles: true }))
        await Promise.resolve()
        document.body.offsetHeight
        times.push(performance.now() - begun)
        await new Promise(requestAnimationFrame)
      }
      return times.sort((one, other) => one - other)
    })()`)
    console.info('a character takes', times[30]?.toFixed(2), 'ms')
    expect(times[30]).toBeLessThan(8)
  }),
  timeout,
)

test(
  'who else is writing shows above the box until they have said it, a private message only to its reader',
  { timeout },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const eve = await gateway.enter('eve')
    const seen: unknown[] = []
    eve.on('envelope', ({ kind, from }) => kind === 'observe.typing' && seen.push(from))
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'ana')
    const seesTyping = (): Promise<void> =>
      expect
        .poll(() => {
          eve.sendTyping()
          return page.text()
        })
        .toContain('eve is writing…') as unknown as Promise<void>
    await seesTyping()
    await page.screenshot(pictures('message-typing'))
    await eve.chat('there')
    await page.hides('eve is writing…')
    await page.type('.message-box textarea', 'so')
    await expect.poll(() => seen).toEqual(['ana'])
    await page.evaluate(`${field}.select()`)
    await page.type('.message-box textarea', '/pending')
    await seesTyping()
    await page.hides('eve is writing…')
    expect(seen).toEqual(['ana'])
  }),
)

test(
  'a message to an agent at work waits above the box until the agent begins to answer it',
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    const runs: (() => Promise<void>)[] = []
    void planner.answer(
      (turn) =>
        turn.reason(
          'planning',
          () => new Promise<string>((resolve) => runs.push(async () => resolve('done'))),
        ),
      { concurrency: 1 },
    )
    await enter()
    await page.shows('planner')
    const say = async (text: string): Promise<void> => {
      await page.type('.message-box textarea', text)
      await page.key('Enter')
    }
    await say('@planner first')
    await expect.poll(() => runs.length).toBe(1)
    expect(await page.text()).not.toContain('waits')
    await say('@planner second')
    await page.shows('planner is at work; your message waits')
    await say('@planner third')
    await page.shows('planner is at work; 2 of your messages wait')
    for (const count of [2, 3]) {
      await runs.at(-1)?.()
      await expect.poll(() => runs.length).toBe(count)
    }
    await page.hides('at work')
    await runs.at(-1)?.()
  }),
  timeout,
)
