import { type ModelRequest, scriptedModel } from '@meup/agent-sdk/ai'
import { expect, test } from 'vitest'
import { terminalSpace } from '../support/terminal.js'
import { inTmux, type Pane } from '../support/tmux.js'

const timeout = 180_000
const patience = { timeout: 30_000 }

function enter(pane: Pane, line: string): void {
  pane.type(line)
  pane.press('Enter')
}

const note = (text: string) => ({
  to: ['files'],
  method: 'tools/call',
  params: { name: 'write', arguments: { text } },
  rationale: `to keep ${text}`,
})

test(
  'proposals are shown, approved, rejected and allowed, also those from before one came',
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['coder', 'files'], { columns: 120 })
    const { coder, files } = seats
    const written: unknown[] = []
    files.tool('write', {}, (args) => {
      written.push(args)
      return 'written down'
    })
    const early = await coder.propose(note('early'))
    const pane = open()
    await pane.sees('⚠ 1 proposal waits: /pending')
    const late = await coder.propose(note('late'))
    await pane.sees('2 pending')
    pane.press('C-p')
    await pane.sees('why: to keep early')
    await pane.sees(`/approve ${late.id}`)

    enter(pane, `/approve ${early.id.slice(0, 12)}`)
    await pane.sees('✓ approved: written down')
    await pane.sees('1 pending')
    pane.type('/rej')
    pane.press('Tab')
    await pane.shows((screen) => expect(screen).toMatch(/> \/reject$/m))
    pane.type(' ')
    pane.press('Tab')
    await pane.shows((screen) => expect(screen.replaceAll('\n', '')).toContain(`> /reject ${late.id}`))
    enter(pane, ' not now')
    await pane.sees('✓ rejected')
    expect(await late.outcome).toMatchObject({ state: 'rejected', message: 'not now' })
    await pane.shows((screen) => expect(screen).not.toContain('pending ·'))

    await coder.propose(note('always'))
    await pane.sees('1 pending')
    await pane.sees(/coder {4}text {2}always/)
    enter(pane, '/allways')
    await pane.sees('✗ there is no /allways; did you mean /always?')
    enter(pane, '/always')
    await pane.sees('1  only where text is always')
    await pane.sees('2  with any arguments')
    pane.press('1')
    await pane.sees('until when?')
    pane.press('3')
    await pane.sees('✓ approved; coder may call write of files where text is always from now on')
    const may = (text: string): boolean => {
      const { to, method, params } = note(text)
      return coder.can({ kind: 'mcp.request', to, payload: { method, params } })
    }
    await expect.poll(() => may('always')).toBe(true)
    expect(may('never')).toBe(false)
    await expect.poll(() => written).toEqual([{ text: 'early' }, { text: 'always' }])
    const two = [await coder.propose(note('this')), await coder.propose(note('that'))] as const
    await pane.sees('2 pending · y/n · coder: files/write — to keep this · /always')
    enter(pane, 'y')
    await pane.sees('✓ approved: written down')
    expect(await two[0].outcome).toMatchObject({ state: 'approved', by: 'ana' })
    await pane.sees('1 pending · y/n · coder: files/write — to keep that')
    enter(pane, 'n')
    await pane.sees('why not? for everyone to read')
    enter(pane, 'it is too late')
    expect(await two[1].outcome).toMatchObject({ state: 'rejected', message: 'it is too late' })
    await pane.shows((screen) => expect(screen).not.toContain('pending ·'))
    enter(pane, 'y')
    await pane.sees('ana: y')

    const params = { name: 'write', arguments: { command: 'cd build && rm -rf ..' } }
    const danger = { to: 'files', method: 'tools/call', params, rationale: 'it cleans up' } as const
    const { outcome } = await coder.propose(danger)
    await pane.sees('⚠ destructive: `rm` deletes files.')
    await pane.sees('1 pending · y/n · coder: $ cd build && rm -rf .. — it cleans up')
    enter(pane, 'y')
    await pane.sees('yes approves it')
    enter(pane, 'y')
    await pane.sees('not approved')
    enter(pane, 'y')
    await pane.shows((screen) => expect(screen).toMatch(/yes approves it.*\n> *$/s))
    enter(pane, 'yes')
    expect(await outcome).toMatchObject({ state: 'approved', by: 'ana' })
    enter(pane, '/approve nonsense')
    await pane.sees('✗ no proposal nonsense is in the log')
  }),
  timeout,
)

test(
  'Esc stops the run that answers whoever presses it, and asks where it may be another',
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner', 'coder'])
    const { planner, coder } = seats
    void planner.answer(async (turn) => {
      const run = await turn.reason(`Thinking about ${turn.text}`)
      await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
      await run.cancel('as I was asked to')
    })
    const job = await coder.reason('a job of its own')
    const pane = open()
    await pane.sees('ana is here')
    pane.press('Escape')
    await pane.sees('no agent answers you at present; interrupt which? Esc: none')
    await pane.sees('1  coder')
    pane.press('Escape')
    await pane.shows((screen) => expect(screen).not.toContain('interrupt which?'))

    enter(pane, 'this')
    await pane.sees('planner ┄ Thinking about this')
    pane.press('Escape')
    await pane.sees('ana asks planner to stop')
    await pane.sees('planner: I was stopped')
    expect(job.signal.aborted).toBe(false)
    enter(pane, '/interrupt')
    await pane.sees('interrupt which?')
    pane.press('1')
    await pane.sees('✓ coder is asked to stop')
    await expect.poll(() => job.signal.aborted, patience).toBe(true)
  }),
  timeout,
)

test(
  'people, filters, grants, pauses and what was before',
  inTmux(async () => {
    const { seats, open, enter: sit } = await terminalSpace(['planner', 'coder'], { columns: 100 })
    const { planner, coder } = seats
    await planner.chat('long ago')
    const pane = open()
    await pane.sees('ana is here')
    enter(pane, '/participants')
    await pane.sees(/● {2}planner {2}here +chat reasoning\.\* mcp\.request mcp\.response/)
    await pane.sees(/○ {2}files {4}away/)
    enter(pane, '/replay')
    await pane.sees(/── replay 1–\d+\n[\s\S]*planner: long ago\n[\s\S]*── end of replay/)
    enter(pane, '/replay 2-1')
    await pane.sees('there is nothing in the log there')

    enter(pane, '/filter @coder reasoning:boundaries')
    await pane.sees('you see @coder reasoning:boundaries alone · 0 envelopes (0.0 KB) kept back so far')
    const run = await coder.reason('in private')
    await run.thought('not shown')
    await planner.chat('unheard')
    await run.conclude('done')
    await pane.sees('coder ∎ done')
    await pane.sees('only @coder reasoning:boundaries ─')
    enter(pane, '/filter reasoning:summary')
    await pane.sees('you see reasoning:summary alone')
    const counted = await coder.reason('to be counted')
    await counted.thought('not shown', { phase: 'plan' })
    await counted.thought('not shown', { phase: 'execute' })
    const { seq } = await counted.thought('counted alone', { phase: 'execute' })
    await counted.conclude('counted')
    await pane.sees(/coder ∎ counted · .*3 thoughts: plan, execute/)
    enter(pane, `/ask #${seq} why so?`)
    await pane.sees(/ana → coder: ▏ counted alone\n.*\n.*why so\?/)
    enter(pane, '/ask #1 why so?')
    await pane.sees('✗ #1 is not a thought')
    enter(pane, '/filter off')
    await pane.sees(/you see everything · [1-9]\d* envelopes \(\d\.\d KB\) kept back so far/)
    expect(pane.all()).not.toMatch(/not shown|unheard/)
    await planner.chat('heard')
    await pane.sees('planner: heard')

    enter(pane, '/grant coder {"kind": "mcp.request", "to": "files"} for:1h')
    await pane.sees(/✓ coder may \{"kind":"mcp.request","to":"files"\} \(grant/)
    await expect.poll(() => coder.can({ kind: 'mcp.request', to: ['files'] }), patience).toBe(true)
    enter(pane, '/pause planner 10m')
    await pane.sees(/· ana paused planner/)
    enter(pane, '/resume planner')
    await pane.sees(/· ana resumed planner/)
    enter(pane, '/grant coder')
    await pane.sees('Write /grant <participant> <capability…> [for:1h].')
    enter(pane, '/filter reasoning:loud')
    await pane.sees('✗ --reasoning takes full, summary, boundaries or none, not loud')
    const ben = await sit('files')
    await pane.sees('files is here')
    ben.close()
  }),
  timeout,
)

test(
  'what tools give back is shown in brief, and in full from Ctrl+O on',
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner', 'files'])
    seats.files.tool('list', {}, () => 'first\nsecond\nthird')
    const pane = open()
    await pane.sees('ana is here')
    const run = await seats.planner.reason()
    await run.call('files/list', {}, { why: 'to see' })
    await pane.sees('planner  ● list — to see ✓ 18 B')
    expect(pane.all()).not.toContain('│ second')
    pane.press('C-o')
    await pane.sees(/tool output in full\nplanner {4}│ first\nplanner {4}│ second\nplanner {4}│ third/)
    await run.call('files/list', {}, { why: 'to see again' })
    await pane.shows((screen) => expect(screen.match(/│ second/g)).toHaveLength(2))
  }),
  timeout,
)

test(
  '/compact has an agent put its memory into notes, the one that answered last or another one',
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner', 'coder'])
    const { planner, coder } = seats
    const isNote = ({ prompt }: ModelRequest): boolean => JSON.stringify(prompt[0]).includes('keep notes')
    const model = scriptedModel((request) => [{ text: isNote(request) ? 'Ana likes tea.' : 'Noted: tea.' }])
    void planner.agent({ model, transcript: 'off' })
    coder.control({
      compact: () => {
        throw new Error('no')
      },
    })
    const pane = open()
    await pane.sees('type to talk')
    enter(pane, '/compact')
    await pane.sees('✗ no agent has answered here yet. Name one with /compact @agent.')
    enter(pane, 'I like tea')
    await pane.sees('Noted: tea.')
    enter(pane, '/compact')
    await pane.sees('planner has compacted its memory')
    enter(pane, 'And now?')
    await expect.poll(() => model.requests.length, patience).toBe(3)
    const last = JSON.stringify(model.requests.at(-1)?.prompt.slice(1))
    expect(last).toContain('Notes on what was said before this:\\n> Ana likes tea.')
    expect(last).not.toContain('I like tea')
    enter(pane, '/compact @nobody')
    await pane.sees(/✗ .*nobody/)
  }),
  timeout,
)
