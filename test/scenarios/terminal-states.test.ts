import { expect } from 'vitest'
import { settled, terminalSpace } from '../support/terminal.js'
import { inTmux, type Pane } from '../support/tmux.js'
import { verifies } from '../verifies.js'

/** Columns and rows of common terminals. */
const sizes = [
  [80, 24],
  [100, 30],
  [40, 20],
] as const

const survey = {
  message: 'How is it to be sent?',
  requestedSchema: {
    type: 'object',
    properties: {
      gift: { type: 'boolean', title: 'As a gift?' },
      wrap: { type: 'string', title: 'Paper', enum: ['plain', 'gold'] },
    },
    required: ['gift'],
  },
}

function enter(pane: Pane, line: string): void {
  pane.type(line)
  pane.press('Enter')
}

for (const [columns, rows] of sizes) {
  verifies(
    'I20',
    `a private message, an approval and what its tool asks, at ${columns}×${rows}`,
    inTmux(async () => {
      const { seats, open } = await terminalSpace(['planner', 'coder', 'files'], { columns, rows })
      const { planner, coder, files } = seats
      files.tool('send', {}, async (_, { request, signal }) => {
        const options = { correlationId: request.id, propose: false, signal, timeoutMs: 60_000 }
        await files.request(request.from, 'elicitation/create', survey, options)
        return 'sent'
      })
      const pane = open()
      await pane.sees('ana is here')
      enter(pane, '/msg planner what does it cost?')
      await pane.sees(/\(private\):\s/)
      await planner.chat('42 €, and nobody else reads that', { to: ['ana'] })
      await pane.sees('42 €')
      const proposal = { to: ['files'], method: 'tools/call', rationale: 'it was ordered' }
      await coder.propose({ ...proposal, params: { name: 'send', arguments: { order: 7, to: 'Ben, Bern' } } })
      await pane.shows((screen) => expect(screen).toMatch(/^⚠ 1 pending/m))
      await pane.shows((screen) => {
        if (/Ben, Bern/.test(screen)) return
        pane.press('C-p')
        throw new Error('it is not shown yet')
      })
      await expect(settled(pane.screen())).toMatchFileSnapshot(`../golden/approval-${columns}x${rows}.txt`)
      enter(pane, 'y')
      await pane.sees('As a gift? y or n')
      await expect(settled(pane.screen())).toMatchFileSnapshot(`../golden/survey-${columns}x${rows}.txt`)
    }),
    { timeout: 120_000 },
  )
}

verifies(
  'I20',
  'who does how much, at each size',
  inTmux(async () => {
    await Promise.all(sizes.map(showActivity))
  }),
  { timeout: 120_000 },
)

async function showActivity([columns, rows]: readonly [number, number]): Promise<void> {
  const { seats, open, enter } = await terminalSpace(['planner', 'coder', 'files'], { columns, rows })
  const ana = await enter('ana')
  await seats.planner.chat('I need more data, and a long time to think about what it may mean for all of us')
  await seats.planner.reason('a run')
  await ana.pause(['coder'], { timeoutSeconds: 600 })
  const pane = open('top')
  // Wait until no message was sent for ten seconds, so that the line of planner and the rate no longer change.
  await pane.shows((screen) => {
    expect(screen).toMatch(/^▶ planner +thinks \d\d s(?: +–|$)/m)
    expect(screen).toMatch(/^demo · 0\.0\/s/)
  })
  await expect(still(pane.screen())).toMatchFileSnapshot(`../golden/top-${columns}x${rows}.txt`)
  pane.press('q')
  await pane.sees('ended 0')
  const listing = open('ps')
  await listing.sees('ended 0')
  await expect(still(listing.screen())).toMatchFileSnapshot(`../golden/ps-${columns}x${rows}.txt`)
}

/** Replaces ports and times, which differ between runs, and shortens spaces, whose number depends on them. */
const still = (screen: string): string =>
  screen
    .replace(/:\d{4,5}\b/g, ':PORT')
    .replace(/\b\d+ min/, 'N min')
    .replace(/\b\d+ (?:min|s)\b(?: \d+ s)?/g, 'N s')
    .replace(/ {2,}/g, '  ')
    .trimEnd()
