import { expect, test } from 'vitest'
import type { DrivenPage } from '../support/driven-page.js'
import { crew, onPage, pictures } from '../support/page.js'

/** Makes an answer of about this length, in numbered paragraphs with Markdown. */
const answer = (chars: number): string => {
  const parts: string[] = []
  for (let sum = 0; sum < chars; sum += (parts.at(-1)?.length ?? 0) + 2)
    parts.push(
      `Point **${parts.length}** of it, which takes a line or two to say so that the answer is long.`,
    )
  return `${parts.join('\n\n')}\n\nThat is *all* of it.`
}

/**
 * Code in the page that scrolls through the whole view, and collects the numbers of the paragraphs that were displayed
 * correctly.
 */
const collect = `(async () => {
  const box = document.querySelector('.scroller')
  const seen = new Set()
  let before = -1
  box.scrollTop = 0
  box.dispatchEvent(new WheelEvent('wheel', { deltaY: -1, bubbles: true }))
  while (box.scrollTop !== before) {
    before = box.scrollTop
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 0)))
    for (const each of document.querySelectorAll('.markdown p strong')) seen.add(Number(each.textContent))
    box.scrollTop += box.clientHeight / 2
  }
  return [...seen].sort((one, other) => one - other)
})()`

test(
  'an answer is whole and is Markdown to its end, however long it is',
  { timeout: 120_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    for (const chars of [4100, 17_000, 250_000]) {
      const text = answer(chars)
      await planner.chat(text, { format: 'markdown' })
      await page.shows('That is all of it.')
      expect(await page.evaluate('document.querySelectorAll(".row").length')).toBeLessThan(40)
      const points = await page.evaluate<number[]>(collect)
      expect(points.at(-1)).toBe(text.split('Point').length - 2)
      expect(points).toEqual(points.map((_, index) => index))
      await page.key('.')
      await page.shows('That is all of it.')
      expect(await page.text()).not.toContain('**')
    }
  }),
)

const wide = [
  '## What fits',
  `One word: ${'x'.repeat(10_000)}`,
  `\`${'inline'.repeat(100)}\` and https://example.org/${'path/'.repeat(60)}`,
  `\`\`\`ts\n${`const value = ${'call('.repeat(60)}\n`.repeat(40)}\`\`\``,
  `|${' column |'.repeat(60)}\n|${'---|'.repeat(60)}\n|${' 1,234 ms |'.repeat(60)}`,
  `> - ${'quoted and nested '.repeat(40)}\n>   - \`${'deep'.repeat(200)}\``,
].join('\n\n')

/**
 * Code in the page that finds elements wider than their row, except those with a scrollbar of their own, and measures by how
 * much the list scrolls sideways.
 */
const tooWide = `(async () => {
  const found = new Set()
  const kinds = new Set()
  const scrolls = (each) => /auto|scroll|hidden|clip/.test(getComputedStyle(each).overflowX)
  const box = document.querySelector('.scroller')
  box.scrollTop = 0
  for (let before = -1; box.scrollTop !== before; box.scrollTop += box.clientHeight) {
    before = box.scrollTop
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 0)))
    for (const row of box.querySelectorAll('.row')) {
      const edge = row.getBoundingClientRect().right
      const look = (each) => {
        for (const child of each.children) {
          if (child.matches('.unseen')) continue
          kinds.add(child.className)
          if (child.getBoundingClientRect().right > edge + 1) found.add(child.className || child.localName)
          if (!scrolls(child)) look(child)
        }
      }
      look(row)
    }
    if (box.scrollWidth > box.clientWidth) found.add(box.scrollWidth - box.clientWidth)
  }
  return { found: [...found], hasAll: ['code-block', 'table', 'said markdown '].every((each) => kinds.has(each)) }
})()`

test(
  'nothing is wider than its card, on a phone and beside a panel, and code and tables scroll by themselves',
  { timeout: 120_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const run = await planner.reason(wide)
    await run.thought(wide)
    await planner.chat(wide, { format: 'markdown' })
    await planner.chat(wide)
    await page.shows('What fits')
    for (const width of [320, 390, 600, 768, 1024, 1280, 1440]) {
      await page.resize(width, 800)
      for (const key of ['i', 'Escape']) {
        await page.key(key)
        const message = `${width} px, ${key}`
        await expect.poll(() => page.evaluate(tooWide), { message }).toEqual({ found: [], hasAll: true })
      }
    }
    await page.resize(390, 844)
    await page.screenshot(pictures('answers-wide-phone'))
    await page.resize(1440, 900)
    await page.screenshot(pictures('answers-wide'))
  }),
)

const evaluateAll = <Value>(page: DrivenPage, selector: string, expression: string): Promise<Value[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => ${expression})`)

test(
  'code has its language and a button that copies it, and unfolds; tables align; tasks have no bullets',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await page.prepare(
      `Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text } } })`,
    )
    await enter()
    const code = Array.from({ length: 120 }, (_, line) => `let line${line} = ${line}`).join('\n')
    const text = [
      '# One',
      '## Two',
      '### Three',
      `\`\`\`js\n${code}\n\`\`\``,
      '| what | ms |\n|---|---:|\n| p50 | 12 |',
      '- [x] done\n- [ ] not done',
      'می\u200cخواهم',
      'left to right 👩\u200d💻',
    ].join('\n\n')
    await planner.chat(text, { format: 'markdown' })
    await page.shows('Show all 120 lines')
    await expect
      .poll(() => evaluateAll(page, '.code-block .hljs-keyword', 'each.textContent'))
      .toContain('let')
    expect(await evaluateAll(page, '.code-block figcaption > span', 'each.textContent')).toEqual(['js'])
    await page.click('.code-block button', 'Copy')
    await expect.poll(() => page.evaluate('window.copied')).toBe(code)
    expect(await page.text()).not.toContain('line119')
    await page.click('.code-block button', 'Show all 120 lines')
    await page.shows('line119')
    const sizes = await evaluateAll<string>(
      page,
      '.markdown :is(h3, h4, h5)',
      'getComputedStyle(each).fontSize',
    )
    expect(sizes).toEqual(['20px', '17px', '15px'])
    expect(await evaluateAll(page, 'td.right', 'getComputedStyle(each).textAlign')).toEqual(['end'])
    expect(await evaluateAll(page, '.markdown li', 'getComputedStyle(each).listStyleType')).toEqual([
      'none',
      'none',
    ])
    const directions = await evaluateAll(page, '.markdown p', 'getComputedStyle(each).direction')
    expect(directions).toEqual(['rtl', 'ltr'])
    await page.shows('می\u200cخواهم')
    await page.shows('👩\u200d💻')
    await page.screenshot(pictures('answers-parts'))
  }),
)

test(
  'what people write is Markdown too, with links, and only the first line of a question stands out',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const ana = await gateway.enter('ana')
    const question = await ana.chat('What of these?\n\n- **one**\n- https://example.org/a')
    await page.shows('What of these?')
    await expect
      .poll(() => evaluateAll(page, '.markdown li', 'each.textContent'))
      .toEqual(['one', 'https://example.org/a'])
    expect(await evaluateAll(page, '.markdown a', 'each.href')).toEqual(['https://example.org/a'])
    await planner.chat('See https://example.org/b, and **this** as it is.', { correlationId: question.id })
    await page.shows('**this** as it is.')
    expect(await evaluateAll(page, 'span.said a', 'each.href')).toEqual(['https://example.org/b'])
    expect(await evaluateAll(page, '.start .markdown li', 'getComputedStyle(each).fontWeight')).toEqual([
      '400',
      '400',
    ])
  }),
)

test(
  'an answer is whole while it is written',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    const ana = await gateway.enter('ana')
    await enter()
    const question = await ana.chat('Tell me all of it')
    await page.shows('Tell me all of it')
    const text = answer(40_000)
    const pieces = text.match(/.{1,4000}/gs) ?? []
    for (const [index, piece] of pieces.entries())
      planner.post({ kind: 'chat.delta', correlationId: question.id, payload: { index, text: piece } })
    await page.shows('That is all of it.')
    await expect
      .poll(() => page.evaluate('document.querySelectorAll("[aria-busy=true] .markdown p").length'))
      .toBe(text.split('\n\n').length)
  }),
)

test(
  'a link shows its text while it is written',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    const ana = await gateway.enter('ana')
    await enter()
    const question = await ana.chat('Where is it?')
    await page.shows('Where is it?')
    const write = (index: number, text: string) =>
      planner.post({ kind: 'chat.delta', correlationId: question.id, payload: { index, text } })
    const written = `document.querySelector('[aria-busy=true] .markdown')?.innerText`
    write(0, 'It is in [the rep')
    await expect.poll(() => page.evaluate(written)).toBe('It is in the rep')
    write(1, 'ort](https://exam')
    await expect.poll(() => page.evaluate(written)).toBe('It is in the report')
    write(2, 'ple.org/report) now')
    await expect.poll(() => page.evaluate(written)).toBe('It is in the report (example.org) now')
  }),
)
