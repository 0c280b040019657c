import { expect, test } from 'vitest'
import { meup } from '../support/cli.js'
import { terminalSpace } from '../support/terminal.js'
import { inTmux, type Pane } from '../support/tmux.js'

const timeout = 180_000

function enter(pane: Pane, line: string): void {
  pane.type(line)
  pane.press('Enter')
}

const form = {
  message: 'Where to?',
  requestedSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', title: 'Folder' },
      mode: { type: 'string', title: 'Mode', enum: ['keep', 'replace'], default: 'keep' },
      lines: { type: 'integer', title: 'Lines', minimum: 1 },
    },
    required: ['path', 'lines'],
  },
}

/** Opens a space in which coder proposes a call of a tool that asks ana a question. */
async function asking() {
  const { cwd, seats, open } = await terminalSpace(['coder', 'files'], { columns: 100 })
  const { coder, files } = seats
  const answers: unknown[] = []
  files.tool('write', {}, async (_, { request, signal }) => {
    const options = { correlationId: request.id, propose: false, signal, timeoutMs: 60_000 }
    const answer = await files.request(request.from, 'elicitation/create', form, options)
    answers.push(answer)
    return `done: ${String(answer.action)}`
  })
  const propose = () =>
    coder.propose({ to: ['files'], method: 'tools/call', params: { name: 'write' }, rationale: 'to keep it' })
  return { cwd, open, propose, answers, files }
}

async function approve(pane: Pane, propose: () => Promise<unknown>): Promise<void> {
  await propose()
  await pane.shows((screen) => expect(screen).toMatch(/^⚠ 1 pending/m))
  pane.press('C-p') // Prints the proposal in full, in case it was not printed on arrival.
  await pane.shows((screen) => expect(screen).toMatch(/^⚠ 1 pending · y\/n/m))
  enter(pane, 'y')
}

test(
  'who has a tool called at a terminal is asked there what it asks',
  inTmux(async () => {
    const { open, propose, answers } = await asking()
    const pane = open()
    await pane.sees('you are ana')
    await approve(pane, propose)
    await pane.sees('? files asks: Where to?')
    await pane.sees('everyone here can read what you answer')
    await pane.sees('Folder? · Esc: decline')
    // A line that is a command is not taken as the answer, and an answer that is a path is not taken as a command.
    enter(pane, '/pending')
    await pane.sees('no proposal waits for a decision')
    enter(pane, '/srv/notes')
    await pane.sees('1  keep')
    await pane.sees('Mode? its number · Enter: keep · Esc: decline')
    enter(pane, '2')
    await pane.sees('Lines? a number')
    enter(pane, 'many')
    await pane.sees('✗ Lines is a number')
    enter(pane, '3')
    await pane.sees('✓ answered files')
    await pane.sees('✓ approved: done: accept')
    expect(answers).toMatchObject([
      { action: 'accept', content: { path: '/srv/notes', mode: 'replace', lines: 3 } },
    ])
  }),
  timeout,
)

test(
  'Esc declines, what was being typed is no answer, and a question that is taken back goes',
  inTmux(async () => {
    const { open, propose, answers, files } = await asking()
    const pane = open()
    await pane.sees('you are ana')
    await approve(pane, propose)
    await pane.sees('Folder? · Esc: decline')
    pane.press('Escape')
    await pane.sees('✓ approved: done: decline')
    expect(answers).toMatchObject([{ action: 'decline' }])

    // The user has begun a line before the question arrives.
    const heard = files.envelopes()
    await approve(pane, propose)
    pane.type('as I was sayi')
    await pane.sees(/\? files asks[\s\S]*\? files asks/)
    enter(pane, 'ng')
    for await (const { kind, payload } of heard) {
      if (kind !== 'chat') continue
      expect(payload).toMatchObject({ message: 'as I was saying' })
      break
    }
    expect(answers).toHaveLength(1)
    files.close()
    await pane.sees('files left')
    pane.press('Escape')
  }),
  timeout,
)

test(
  'a command that calls a tool asks, too; in a pipe it declines',
  inTmux(async () => {
    const { cwd, open, answers } = await asking()
    const pane = open('call files/write --as ana')
    await pane.sees('? files asks: Where to?')
    await pane.sees('Folder? · Ctrl+D: decline')
    enter(pane, 'notes')
    await pane.sees('Mode? its number · Enter: keep')
    pane.press('Enter')
    await pane.sees('Lines? a number')
    enter(pane, '7')
    await pane.sees('✓ answered files')
    await pane.sees('done: accept')
    await pane.sees('ended 0')
    expect(answers).toMatchObject([{ content: { path: 'notes', mode: 'keep', lines: 7 } }])
    const again = open('call files/write --as ana')
    await again.sees('Folder? · Ctrl+D: decline')
    again.press('C-d')
    await again.sees('done: decline')
    const piped = await meup(['call', 'files/write', '--as', 'ana'], { cwd })
    expect(piped).toMatchObject({ code: 0, stdout: 'done: decline\n' })
  }),
  timeout,
)
