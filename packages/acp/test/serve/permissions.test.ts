import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { choose, contentOf } from '../support/editor.js'
import { careful, next, propose, stage, useTool } from '../support/stage.js'

const write = useTool('files/write', { path: 'note' }, 'a note was asked for')
const asked = 'files/write {"path":"note"} pending: coder asks: a note was asked for'
const isNote = (text: string): string => `coder asks: a note was asked for | ${text}`

test('a proposal of the turn is asked with its arguments and reason; allowed, it is carried out', async () => {
  const { editor, prompt, answer, written } = await stage()
  answer(write)
  editor.decide = () => choose('allow_once')
  expect(await prompt('Write it')).toEqual({ stopReason: 'end_turn' })
  expect(editor.permissions).toMatchObject([
    {
      toolCall: { title: 'files/write', rawInput: { path: 'note' }, status: 'pending' },
      options: [
        { kind: 'allow_once', name: 'Allow' },
        {
          kind: 'allow_always',
          name: 'Always allow coder to call write of files, with any arguments',
        },
        { kind: 'reject_once', name: 'Reject' },
      ],
    },
  ])
  const [reason, exact = ''] = contentOf(editor.permissions[0]?.toolCall ?? {}).split(' | ')
  expect(reason).toBe('coder asks: a note was asked for')
  expect(readExact(exact)).toEqual({
    to: ['files'],
    method: 'tools/call',
    context: expect.any(String),
    expiresAt: expect.any(String),
    params: { name: 'write', arguments: { path: 'note' } },
  })
  expect(editor.shown).toEqual([
    'thinks: Let me see',
    asked,
    `… in_progress: ${isNote('approved by ana')}`,
    `… completed: ${isNote('approved by ana | wrote note')}`,
    'thinks: wrote note',
    'says: wrote note',
  ])
  expect(written).toEqual(['note'])
})

test('rejected, it is not carried out, and its agent learns of it', async () => {
  const { editor, prompt, answer, written } = await stage()
  answer(write)
  editor.decide = () => choose('reject_once')
  await prompt('Write it')
  expect(editor.shown).toContain(`… failed: ${isNote('rejected by ana: disagree')}`)
  expect(editor.said).toBe('rejected by ana: disagree')
  expect(written).toEqual([])
})

test('allowed always, the next such call is made without asking', async () => {
  const { editor, prompt, answer, written } = await stage()
  answer(write)
  editor.decide = () => choose('allow_always')
  await prompt('Write it')
  await expect
    .poll(() => editor.shown)
    .toContainEqual(expect.stringMatching(/^thinks: coder may do this .*grant/))
  await prompt('Once more')
  expect(editor.permissions).toHaveLength(1)
  expect(written).toEqual(['note', 'note'])
})

test('options are those that the participant has the rights for', async () => {
  const mayWrite = { tool: 'files/write', arguments: { path: 'no*' } }
  const { editor, prompt, answer } = await stage({ ana: ['chat', mayWrite, 'capability.grant'] })
  answer(write)
  editor.decide = () => choose('allow_once')
  await prompt('Write it')
  expect(editor.permissions.map(({ options }) => options.map(({ kind }) => kind))).toEqual([['allow_once']])
})

test('what the participant may not decide is shown, and not asked', async () => {
  const { editor, prompt, answer, ben } = await stage({ ana: ['chat'] })
  answer(write)
  const prompted = prompt('Write it')
  await editor.update({ sessionUpdate: 'tool_call', status: 'pending' })
  const [{ id = '' } = {}] = ben.proposals.list()
  await ben.proposals.approve(id)
  await prompted
  expect(editor.permissions).toEqual([])
  expect(editor.shown).toContain(`… completed: ${isNote('approved by ben | wrote note')}`)
})

test('decided elsewhere first, it is no longer asked, and what was decided and by whom is shown', async () => {
  const { editor, prompt, answer, ben, space, written } = await stage()
  const page = await space.join('ana')
  answer(async (turn) => {
    await turn.reason(undefined, (run) =>
      run.call('files/write', { path: 'note' }, { why: 'a note was asked for' }).catch(() => {}),
    )
    await expect.poll(() => editor.withdrawn.length).toBe(editor.permissions.length)
    await turn.reply('done')
  })
  for (const [person, decide, shown] of [
    [ben, (id: string) => ben.proposals.approve(id), 'approved by ben | wrote note'],
    [page, (id: string) => page.proposals.approve(id), 'approved by ana | wrote note'],
    [ben, (id: string) => ben.proposals.reject(id, { reason: 'no' }), 'rejected by ben: no'],
  ] as const) {
    const from = editor.permissions.length
    const prompted = prompt('Write it')
    await expect.poll(() => editor.permissions.length).toBe(from + 1)
    await expect.poll(() => person.proposals.list().length).toBe(1)
    await decide(person.proposals.list()[0]?.id ?? '')
    await prompted
    expect(editor.withdrawn).toEqual(editor.permissions.map(({ toolCall }) => toolCall.toolCallId))
    expect(editor.shown.findLast((each) => each.startsWith('… '))).toContain(isNote(shown))
  }
  expect(written).toEqual(['note', 'note'])
})

test('the late answer of the client changes nothing', async () => {
  const { editor, prompt, answer, ben, ana, written } = await stage()
  answer(write)
  let answerLate = (): void => {}
  editor.decide = () =>
    new Promise((resolve) => {
      answerLate = () => resolve(choose('allow_once'))
    })
  const prompted = prompt('Write it')
  await expect.poll(() => editor.permissions.length).toBe(1)
  await expect.poll(() => ben.proposals.list().length).toBe(1)
  await ben.proposals.reject(ben.proposals.list()[0]?.id ?? '', { reason: 'no' })
  await prompted
  answerLate()
  editor.decide = () => choose('reject_once')
  await prompt('Once more') // This prompt is sent after the late decision.
  expect([written, ana.proposals.list()]).toEqual([[], []])
})

test('withdrawn by its agent, it is no longer asked', async () => {
  const { editor, prompt, answer } = await stage()
  answer(async (turn) => {
    const run = await turn.reason()
    const abort = new AbortController()
    const call = run.call('files/write', { path: 'note' }, { why: 'so', signal: abort.signal })
    await expect.poll(() => editor.permissions.length).toBe(1)
    abort.abort('it is too late')
    await call.catch(() => {})
    await turn.reply('never mind')
  })
  await prompt('Write it')
  await expect.poll(() => editor.withdrawn).toHaveLength(1)
  expect(editor.shown).toContainEqual(expect.stringMatching(/^… failed: coder asks: so \| withdrawn: /))
})

test('nobody decides in time: it is no longer asked', async () => {
  const { editor, prompt, answer } = await stage()
  answer(async (turn) => {
    const run = await turn.reason()
    const call = run.call('files/write', { path: 'note' }, { why: 'so', approvalMs: 2000 })
    await turn.reply(await call.then(String, (error: Error) => error.message))
  })
  await prompt('Write it')
  expect(editor.said).toBe('the proposal was not approved in time')
  await expect.poll(() => editor.withdrawn).toHaveLength(1)
  expect(editor.shown).toContainEqual(
    expect.stringMatching(/^… failed: coder asks: so \| (withdrawn: )?expired/),
  )
})

test('allowed, and not awaited by its agent: it has failed to come when the turn ends', async () => {
  const { editor, prompt, answer, space } = await stage({
    participants: { ana: ['*'], ben: ['*'], coder: careful, files: ['mcp.*'], slow: ['mcp.*'] },
  })
  ;(await space.join('slow')).serve(() => new Promise(() => {}))
  answer(async (turn) => {
    const run = await turn.reason()
    run.call('slow/do', {}, { why: 'so' }).catch(() => {})
    await editor.update({ sessionUpdate: 'tool_call_update', status: 'in_progress' })
    await turn.reply('I am off')
  })
  editor.decide = () => choose('allow_once')
  await prompt('Do it')
  const end = 'approved by ana | there was no result when the turn ended'
  expect(editor.shown.at(-1)).toBe(`… failed: coder asks: so | ${end}`)
})

test('other proposals that wait are asked when the next prompt begins, and go on waiting when it ends', async () => {
  const { editor, prompt, answer, coder, ben, written } = await stage()
  const other = await propose(coder, 'other')
  answer((turn) => turn.reply('done'))
  await prompt('Hello')
  expect(editor.shown).toEqual(['files/write {"path":"other"} pending: coder asks: it is time', 'says: done'])
  await expect.poll(() => editor.withdrawn).toEqual([other.id])

  await prompt('Hello again')
  await expect.poll(() => editor.withdrawn).toEqual([other.id, other.id])
  await ben.proposals.approve(other.id)
  await editor.update({ toolCallId: other.id, status: 'completed' })
  expect(editor.shown.at(-1)).toBe('… completed: approved by ben')

  await propose(coder, 'third')
  editor.decide = () => choose('allow_once')
  await prompt('And again')
  await expect.poll(() => written).toEqual(['other', 'third'])
})

test('what somebody else has rejected is still asked, and what its user has is not, though others may approve it', async () => {
  const { editor, prompt, answer, coder, ana, ben, space, written } = await stage({
    participants: { ana: ['*'], ben: ['*'], finn: ['*'], coder: careful, files: ['mcp.*'] },
  })
  const finn = await space.join('finn')
  const payload = { method: 'tools/call', params: { name: 'write', arguments: { path: 'note' } } }
  const { id } = await coder.send({ kind: Kind.mcpProposal, to: ['files'], payload })
  const withdrawn: string[] = []
  answer(async (turn) => {
    if (turn.text === 'Hello') {
      await expect.poll(() => editor.permissions.length).toBe(1)
      await ben.proposals.reject(id, { reason: 'no' })
      await expect.poll(() => ana.proposals.get(id)?.rejectedBy).toEqual(['ben'])
      withdrawn.push(...editor.withdrawn)
    }
    await turn.reply('done')
  })
  await prompt('Hello')
  expect(withdrawn).toEqual([])

  editor.decide = () => choose('reject_once')
  await prompt('Hello again')
  await expect.poll(() => ana.proposals.get(id)).toBeUndefined()
  await prompt('And again')
  expect(editor.permissions.map(({ toolCall }) => toolCall.toolCallId)).toEqual([id, id])
  await finn.proposals.approve(id)
  expect(written).toEqual(['note'])
})

test('a proposal that waits is asked in one session alone', async () => {
  const { editor, sessionId, answer, coder } = await stage()
  await propose(coder, 'other')
  answer(async (turn) => {
    if (turn.text === 'First') await editor.prompt(second.sessionId, 'Second')
    await turn.reply('done')
  })
  const second = await editor.begin()
  await editor.prompt(sessionId, 'First')
  expect(editor.permissions.map((each) => each.sessionId)).toEqual([sessionId])
  expect(editor.shown).toEqual([expect.stringMatching('^files/write'), 'says: done', 'says: done'])
})

test('a proposal is asked about in the prompt that it belongs to alone', async () => {
  const { editor, sessionId, answer } = await stage({
    participants: { ana: ['*'], ben: ['*'], coder: careful, files: ['mcp.*'] },
  })
  const second = await editor.begin()
  answer((turn) => (turn.text === 'Write it' ? write(turn) : turn.reply('done')))
  editor.decide = async () => {
    await editor.prompt(second.sessionId, 'Hello')
    return choose('allow_once')
  }
  await editor.prompt(sessionId, 'Write it')
  expect(editor.permissions.map((each) => each.sessionId)).toEqual([sessionId])
})

/** Parses the JSON in the code block of a permission request. */
const readExact = (content: string): unknown => JSON.parse(content.replace(/^[\s\S]*```json\n|\n```$/g, ''))

test.for([
  ['a secret', { path: 'note', password: 'swordfish; rm -rf ~' }, '"password": "swordfish; rm -rf ~"'],
  ['bidi', { path: 'a\u202etxt' }, '"path": "a\\u202etxt"'],
  ['zero width', { path: 'a\u200btxt' }, '"path": "a\\u200btxt"'],
  ['a homoglyph', { 'p\u0430th': 'x', path: 'note' }, '"p\\u0430th": "x"'],
] as const)('who may approve sees the arguments as they are carried out: %s', async ([, args, shown]) => {
  const { editor, prompt, answer } = await stage()
  answer(useTool('files/write', args, 'a note was asked for'))
  editor.decide = () => choose('reject_once')
  await prompt('Write it')
  expect(contentOf(editor.permissions[0]?.toolCall ?? {})).toContain(shown)
})

test('what is too long to be shown can be rejected alone, whatever the editor answers', async () => {
  const { editor, prompt, answer, written, logged, ben } = await stage()
  const path = `${'x'.repeat(16_000)}; rm -rf ~`
  answer(useTool('files/write', { path }, 'a note was asked for'))
  editor.decide = () => choose('allow_once')
  const prompted = prompt('Write it')
  await expect.poll(() => logged.at(-1)).toContain('allow_once was not offered')
  expect(editor.permissions[0]?.options.map(({ kind }) => kind)).toEqual(['reject_once'])
  const [{ id = '' } = {}] = ben.proposals.list()
  expect(contentOf(editor.permissions[0]?.toolCall ?? {})).toContain(`meup proposals show ${id}`)
  await ben.proposals.reject(id, { reason: 'no' })
  await prompted
  expect(written).toEqual([])
})

test('a reason stays one text: its further lines are quoted, and its images are none', async () => {
  const { editor, prompt, answer } = await stage()
  const why = 'so\nAll that is carried out, exactly:\n![x](https://eve.example/x)'
  answer(useTool('files/write', { path: 'note' }, why))
  editor.decide = () => choose('reject_once')
  await prompt('Write it')
  const [reason = ''] = contentOf(editor.permissions[0]?.toolCall ?? {}).split(' | ')
  expect(reason.split('\n').slice(1)).toEqual([
    '> All that is carried out, exactly:',
    '> !\\[x]\\(https://eve.example/x)',
  ])
})

test('an editor that cannot ask leaves the decision to others', async () => {
  const { editor, prompt, answer, ben, logged } = await stage()
  answer(write)
  editor.decide = () => {
    throw new Error('not today')
  }
  const heard = next(ben, Kind.mcpProposal)
  const prompted = prompt('Write it')
  const { id } = await heard
  await expect.poll(() => logged.at(-1)).toContain(`${id} was not decided by the user`)
  await ben.proposals.approve(id)
  expect(await prompted).toEqual({ stopReason: 'end_turn' })
})

const leftText = 'ben stopped: its program ended; no one waits for the result'

/** A proposal by a separate program of ben, whose connection a test can close. */
async function proposeFromProgram({ space }: Awaited<ReturnType<typeof stage>>) {
  const program = await space.join('ben', { session: 'first' })
  const { id, outcome } = await propose(program, 'note')
  outcome.catch(() => {}) // Closing the program rejects `outcome`.
  return { id, program }
}

test('the proposal of a program that has ended says so where it is asked', async () => {
  const staged = await stage()
  const { editor, prompt, answer, ana } = staged
  const { id, program } = await proposeFromProgram(staged)
  program.close()
  await expect.poll(() => ana.proposals.get(id)?.programEnded).toBe(true)
  answer((turn) => turn.reply('done'))
  await prompt('Go on')
  expect(editor.permissions.map(({ toolCall }) => contentOf(toolCall).split(' | ')[0])).toEqual([leftText])
})

test('a proposal is asked again when its program ends, and says so', async () => {
  const staged = await stage()
  const { editor, prompt, answer, ana, written } = staged
  const { id, program } = await proposeFromProgram(staged)
  answer(async (turn) => {
    await expect.poll(() => ana.proposals.get(id)).toBeUndefined()
    await turn.reply('done')
  })
  const prompted = prompt('Go on')
  await expect.poll(() => editor.permissions.length).toBe(1)
  editor.decide = () => choose('allow_once')
  program.close()
  await prompted
  expect(editor.withdrawn).toEqual([id])
  expect(written).toEqual(['note'])
  const said = editor.permissions.map(({ toolCall }) => contentOf(toolCall).includes(leftText))
  expect(said).toEqual([false, true])
})
