import { testToken } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { type DrivenPage, drivePage } from '../support/driven-page.js'
import { disguises, markup } from '../support/hostile.js'
import { enterAs, openPageGateway, pictures } from '../support/page.js'
import { isSoak } from '../support/soak.js'

type Draft = Readonly<Record<string, unknown>>

/** Makes envelopes with this text in every place in which one participant can show it to others. */
function everywhere(text: string, at: number): readonly (readonly [from: string, draft: Draft])[] {
  const id = (name: string): string => `${name}-${at}`
  const run = id('run')
  const call = {
    method: 'tools/call',
    params: { name: text, arguments: { [text]: text, nested: [{ text }] } },
  }
  const result = {
    jsonrpc: '2.0',
    id: 1,
    result: { content: [{ type: 'text', text }], isError: at % 2 === 0 },
  }
  const to = { to: ['trent'] }
  return [
    ['mallory', { id: id('chat'), kind: 'chat', payload: { message: text } }],
    ['mallory', { kind: 'chat', payload: { message: text, format: 'markdown' }, correlationId: id('chat') }],
    [
      'mallory',
      {
        id: run,
        kind: 'reasoning.start',
        payload: { message: text, references: [text], metadata: { model: text } },
      },
    ],
    ['mallory', { kind: 'reasoning.thought', context: run, payload: { message: text } }],
    ['mallory', { kind: 'reasoning.thought', context: run, payload: { message: text, phase: 'error' } }],
    ['mallory', { id: id('sub'), kind: 'reasoning.start', context: run, payload: { message: text } }],
    [
      'mallory',
      { kind: 'reasoning.hypothesis', context: `${run}/${id('sub')}`, payload: { hypothesis: text } },
    ],
    ['mallory', { kind: 'chat', context: run, payload: { message: text } }],
    [
      'mallory',
      {
        id: id('call'),
        ...to,
        kind: 'mcp.request',
        context: run,
        rationale: text,
        payload: { jsonrpc: '2.0', id: 1, ...call },
      },
    ],
    [
      'trent',
      { to: ['mallory'], kind: 'mcp.response', correlationId: id('call'), context: run, payload: result },
    ],
    [
      'mallory',
      { id: id('open'), ...to, kind: 'mcp.proposal', context: run, rationale: text, payload: call },
    ],
    [
      'mallory',
      { id: id('over'), ...to, kind: 'mcp.proposal', context: run, rationale: text, payload: call },
    ],
    [
      'trent',
      {
        to: ['mallory'],
        kind: 'mcp.reject',
        correlationId: id('over'),
        payload: { reason: text, message: text },
      },
    ],
    ['mallory', { kind: 'reasoning.cancel', context: run, payload: { reason: text } }],
    ['mallory', { kind: 'acme.note', payload: { text, [text]: [text] } }],
    ['mallory', { kind: 'acme.note', context: `free-${at}`, payload: { message: text } }],
    ['mallory', { kind: 'participant.status', payload: { [text]: at, tokens: 1, maxTokens: 2 } }],
    ['mallory', { ...to, kind: 'participant.pause', payload: { reason: text, timeoutSeconds: 0.001 } }],
    ...(at % 8 === 0
      ? ([
          [
            'mallory',
            {
              kind: 'capability.grant',
              payload: { recipient: 'eve', capabilities: ['acme.*'], reason: text },
            },
          ],
        ] as const)
      : []),
  ]
}

/** Sends the envelopes in order, and skips those that the space refuses. Returns how many were accepted. */
async function say(url: string, lines: readonly (readonly [from: string, draft: Draft])[]): Promise<number> {
  let taken = 0
  for (let rest = [...lines]; rest.length > 0; ) {
    const from = rest[0]?.[0] ?? ''
    const end = rest.findIndex(([other], index) => other !== from || index === 400)
    const mine = rest.splice(0, end === -1 ? rest.length : end)
    while (mine.length > 0) {
      const headers = { authorization: `Bearer ${testToken(from)}`, 'content-type': 'application/json' }
      const body = JSON.stringify(mine.map(([, draft]) => draft))
      const response = await fetch(`${url}/spaces/demo/envelopes`, { method: 'POST', headers, body })
      const received = (await response.json()) as { failedIndex?: number }
      taken += response.ok ? mine.length : (received.failedIndex ?? 0)
      mine.splice(0, response.ok ? mine.length : (received.failedIndex ?? 0) + 1)
    }
  }
  return taken
}

/** Code in the page that finds elements which must not exist, and texts that are missing. */
const found = `(() => {
  const bad = []
  const inert = 'script, img, svg, iframe, object, embed, video, audio, math, style, link, meta, base, template, marquee, noscript, track, source'
  const names = (each, wanted) => each.getAttributeNames().sort().join() === wanted
  const isIcon = (each) => each.matches('svg.icon') && names(each, 'aria-hidden,class,viewBox')
    && [...each.children].every((part) => part.localName === 'path' && names(part, 'd'))
  for (const each of document.body.querySelectorAll(inert)) {
    if (each.parentElement !== document.body && !isIcon(each)) bad.push(each.outerHTML.slice(0, 200))
  }
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
  const unseen = /[^\\P{Cc}\\n\\t]|\\p{Cf}|[\\u2028\\u2029]/u
  for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
    if (node instanceof Text) {
      if (unseen.test(node.data)) bad.push('text ' + JSON.stringify(node.data.slice(0, 200)) + ' in ' + node.parentElement.className)
      continue
    }
    for (const { name, value } of node.attributes) {
      if (name.startsWith('on') || unseen.test(value)) bad.push(node.localName + ' ' + name + '=' + JSON.stringify(value.slice(0, 200)))
    }
    if (node.localName === 'a' && !/^https?:$/.test(node.protocol)) bad.push('link to ' + node.href)
  }
  if (window.hit !== undefined) bad.push('it ran: ' + window.hit)
  return [...new Set(bad)].slice(0, 10)
})()`

/**
 * Code in the page that scrolls through a whole view. Returns the faults that it found, and the number of elements that it
 * examined.
 */
const throughout = `(async () => {
  let box = null
  for (; box === null; await new Promise(requestAnimationFrame)) box = document.querySelector('.scroller')
  const bad = new Set(${found})
  let [pieces, before] = [0, -1]
  box.scrollTop = 0
  for (box.dispatchEvent(new WheelEvent('wheel', { deltaY: -1, bubbles: true })); box.scrollTop !== before; pieces++) {
    before = box.scrollTop
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 0)))
    for (const each of ${found}) bad.add(each)
    box.scrollTop += box.clientHeight
  }
  return { bad: [...bad].slice(0, 20), pieces }
})()`

async function isInert(page: DrivenPage, url: string): Promise<void> {
  await enterAs(page, url, 'ana')
  await page.shows('pending')
  await page.key(']')
  for (const view of ['1', '2', '3']) {
    await page.key(view)
    // Repeat until the result is stable, because envelopes may still arrive during the scan.
    const problems: string[] = []
    const look = async (): Promise<number> => {
      const { bad, pieces } = await page.evaluate<{ bad: string[]; pieces: number }>(throughout)
      problems.push(...bad)
      return pieces
    }
    await expect.poll(look).toBeGreaterThan(view === '1' ? 20 : 0)
    expect(problems, `view ${view}`).toEqual([])
  }
  await page.key('1')
  await page.click('.who', 'mallory')
  await page.shows('May do')
  expect(await page.evaluate(found)).toEqual([])
  await page.click('.who', 'eve')
  await page.shows('granted by mallory')
  expect(await page.evaluate(found)).toEqual([])
  for (const kind of ['chat-1', 'run-1', 'call-1', 'open-1', 'over-1']) {
    const [envelope] = await page.evaluate<{ seq: number }[]>(
      `fetch('/spaces/demo/envelopes?limit=1000', { headers: { authorization: 'Bearer ${testToken('ana')}' } })
        .then((response) => response.json())
        .then(({ envelopes }) => envelopes.filter(({ id }) => id === '${kind}'))`,
    )
    await page.evaluate(`location.hash = '#/s/demo?e=${envelope?.seq}'`)
    await page.shows(`#${envelope?.seq} `)
    expect(await page.evaluate(found)).toEqual([])
  }
  expect(await page.evaluate('document.title')).toMatch(/demo|MEUP/)
  expect(page.problems).toEqual([])
}

for (const [name, corpus] of Object.entries({ markup, disguises })) {
  test(
    `${name} of others is text on the page, wherever they put it`,
    { timeout: 180_000 },
    withChromium(async (chromium) => {
      const gateway = await openPageGateway({ more: { mallory: ['*'], trent: ['mcp.*'] } })
      expect(corpus.length).toBeGreaterThanOrEqual(100)
      const tried = corpus.filter((_, at) => isSoak || at % 3 === 0)
      const lines = tried.flatMap((text, at) => everywhere(text, at))
      expect(await say(gateway.url, lines)).toBeGreaterThan(tried.length * 15)
      const page = await drivePage(chromium)
      await isInert(page, gateway.url)
      await page.screenshot(pictures(`hostile-${name}`))
    }),
  )
}
