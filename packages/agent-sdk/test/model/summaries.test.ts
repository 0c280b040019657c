import { join } from 'node:path'
import type { SpaceClient } from '@meup/agent-sdk'
import { HttpClient } from '@meup/agent-sdk/http'
import { MemoryTranscript, type TranscriptStore } from '@meup/agent-sdk/transcript'
import { TranscriptFile } from '@meup/agent-sdk/transcript/file'
import { testToken } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/support/cli.js'
import { NoAnswerError } from '../../src/model/errors.js'
import { deferred } from '../support/deferred.js'
import { eventually } from '../support/eventually.js'
import { recordEnvelopes } from '../support/record-envelopes.js'
import { allSent, type Program, promptOf, type Remembering, remembering } from '../support/remembering.js'
import type { Script } from './stage.js'

type Request = Parameters<Extract<Script, (...given: never[]) => unknown>>[0]

/** Whether a request is for a summary. */
const isNote = ({ prompt }: Request): boolean => JSON.stringify(prompt[0]).includes('keep notes')
const textOf = ({ prompt }: Request): string => JSON.stringify(prompt.slice(1))

/** A script that answers "noted", and writes numbered summaries. */
function noteTaker() {
  let notes = 0
  return (request: Request) => [{ text: isNote(request) ? `summary ${++notes}` : 'noted' }]
}
const summary = (number: number) => `Notes on what was said before this:\n> summary ${number}`

const memory = { messages: 4 }
const ask = async (ana: SpaceClient, question: string): Promise<string> =>
  (await ana.ask(question, { mention: 'bot' })).text
async function askAll(ana: SpaceClient, ...questions: readonly string[]): Promise<void> {
  for (const question of questions) expect(await ask(ana, question)).toBe('noted')
}
const notesOf = ({ model }: Program): string[] => model.requests.filter(isNote).map(textOf)

test('what does not fit into the memory is summarized, half of it at once', async () => {
  const { ana, run } = await remembering()
  const program = await run(noteTaker(), { memory })
  await askAll(ana, 'one', 'two', 'three')
  expect(notesOf(program)).toEqual([])
  expect(promptOf(program)).toEqual(['ana: one', 'noted', 'ana: two', 'noted', 'ana: three'])
  await askAll(ana, 'four')
  expect(notesOf(program)).toHaveLength(1)
  expect(notesOf(program)[0]).toContain('ana: one\\nbot: noted\\nana: two\\nbot: noted')
  expect(promptOf(program)).toEqual([`${summary(1)}\n\nana: three`, 'noted', 'ana: four'])
  await askAll(ana, 'five')
  expect(promptOf(program)).toEqual([
    `${summary(1)}\n\nana: three`,
    'noted',
    'ana: four',
    'noted',
    'ana: five',
  ])
  await askAll(ana, 'six')
  expect(notesOf(program)[1]).toContain('> summary 1\\n\\nana: three\\nbot: noted\\nana: four\\nbot: noted')
  expect(promptOf(program)).toEqual([`${summary(2)}\n\nana: five`, 'noted', 'ana: six'])
  expect(program.model.requests.find(isNote)?.tools ?? []).toEqual([])
})

test('so it is by tokens, and with "drop" the oldest are left out', async () => {
  const { ana, run } = await remembering()
  const by = await run(noteTaker(), { memory: { tokens: 60 } })
  await askAll(ana, `one ${'x'.repeat(100)}`, `two ${'x'.repeat(100)}`, 'three')
  expect(notesOf(by)).toEqual([])
  await askAll(ana, 'four '.repeat(20), 'five')
  expect(notesOf(by)).toHaveLength(1)
  by.kill()
  const dropping = await run(noteTaker(), { memory, compact: 'drop' })
  await askAll(ana, 'six', 'seven')
  expect(promptOf(dropping).at(-1)).toBe('ana: seven')
  expect(promptOf(dropping)).toHaveLength(5)
  expect(notesOf(dropping)).toEqual([])
})

test('the tokens of a summary count as those of its turn, and it is no step of it', async () => {
  const { ana, run } = await remembering()
  const heard = recordEnvelopes(ana)
  await run(noteTaker(), { memory })
  await askAll(ana, 'one', 'two', 'three', 'four')
  const last = heard.all.findLast(({ kind }) => kind === Kind.reasoningConclusion)
  expect(last?.payload).toMatchObject({ metadata: { steps: 1, tokens: { input: 20, output: 3 } } })
})

describe('after a restart', () => {
  test.each<[string, () => () => TranscriptStore | Promise<TranscriptStore>]>([
    [
      'in memory',
      () => {
        const store = new MemoryTranscript()
        return () => store
      },
    ],
    [
      'in a file',
      () => {
        const path = join(temporaryFolder(), 'bot.db')
        return () => TranscriptFile.open(path)
      },
    ],
  ])(
    'a summary is there that the transcript %s has, and is made again where it has none',
    async (_, create) => {
      const { ana, run } = await remembering()
      const open = create()
      const first = await run(noteTaker(), { memory, transcriptStore: await open() })
      await askAll(ana, 'one', 'two', 'three', 'four')
      first.kill()
      const second = await run(noteTaker(), { memory, transcriptStore: await open() })
      await askAll(ana, 'five')
      expect(notesOf(second)).toEqual([])
      expect(promptOf(second)).toEqual([
        `${summary(1)}\n\nana: three`,
        'noted',
        'ana: four',
        'noted',
        'ana: five',
      ])
      second.kill()
      const without = await run(noteTaker(), { memory })
      await askAll(ana, 'six')
      expect(notesOf(without)).toHaveLength(1)
      expect(notesOf(without)[0]).toContain('ana: one\\nbot: noted')
      expect(promptOf(without)).toEqual([`${summary(1)}\n\nana: five`, 'noted', 'ana: six'])
    },
  )

  test('in the middle of a summary it is made again, and nothing is lost', async () => {
    const { ana, run } = await remembering()
    const transcriptStore = new MemoryTranscript()
    const begun = deferred()
    const first = await run(
      (request) => {
        if (!isNote(request)) return [{ text: 'noted' }]
        begun.resolve()
        return [{ wait: () => new Promise(() => {}) }]
      },
      { memory, transcriptStore },
    )
    await askAll(ana, 'one', 'two', 'three')
    await ana.chat('four', { mention: 'bot' })
    await begun.promise
    first.kill()
    const second = await run(noteTaker(), { memory, transcriptStore })
    await askAll(ana, 'five')
    expect(notesOf(second)[0]).toContain('ana: one\\nbot: noted\\nana: two\\nbot: noted\\nana: three')
    expect(promptOf(second).join('\n')).toContain('ana: four')
    expect(transcriptStore.summaries()).toHaveLength(1)
  })

  test('a summary of another log does not count', async () => {
    const transcriptStore = new MemoryTranscript()
    const one = await remembering()
    const first = await one.run(noteTaker(), { memory, transcriptStore })
    await askAll(one.ana, 'one', 'two', 'three', 'four')
    first.kill()
    const other = await remembering()
    const second = await other.run(noteTaker(), { memory, transcriptStore })
    await askAll(other.ana, 'five')
    expect(promptOf(second)).toEqual(['ana: five'])
  })
})

test('a turn that is stopped in the middle of a summary loses nothing', async () => {
  const { ana, run } = await remembering()
  const begun = deferred()
  let isFirst = true
  const program = await run(
    (request) => {
      if (!isNote(request)) return [{ text: 'noted' }]
      if (!isFirst) return [{ text: 'summary 1' }]
      isFirst = false
      begun.resolve()
      return [{ wait: () => new Promise(() => {}) }]
    },
    { memory },
  )
  await askAll(ana, 'one', 'two', 'three')
  const { id } = await ana.chat('four', { mention: 'bot' })
  await begun.promise
  await ana.send({ kind: Kind.chatCancel, correlationId: id })
  await askAll(ana, 'five')
  expect(notesOf(program)[1]).toContain('ana: one\\nbot: noted\\nana: two\\nbot: noted')
  expect(promptOf(program)).toEqual([`${summary(1)}\n\nana: three`, 'noted', 'ana: five'])
})

test.for([
  ['its request fails', { error: { message: 'Overloaded' } }, 'Overloaded'],
  ['it is empty', { text: ' ' }, new NoAnswerError('no_summary', { model: 'script' }).message],
] as const)('no summary, as %s: the oldest messages are left out, and the run says so once', async (row) => {
  const [, note, why] = row
  const { ana, run } = await remembering()
  const heard = recordEnvelopes(ana)
  const program = await run((request) => [isNote(request) ? note : { text: 'noted' }], {
    ...{ memory, settings: { maxRetries: 0 } },
  })
  await askAll(ana, 'one', 'two', 'three', 'four', 'five')
  expect(promptOf(program)).toEqual(['ana: three', 'noted', 'ana: four', 'noted', 'ana: five'])
  const notices = heard.all.flatMap(({ kind, payload }) =>
    kind === Kind.reasoningThought ? [(payload as { message: string }).message] : [],
  )
  expect(notices).toEqual([
    expect.stringMatching(`^The oldest messages are left out, as no summary could be made: .*${why}`),
  ])
})

describe('a summary is thrown away when of what it covers something was', () => {
  const erase = async ({ gateway }: Remembering, seq: number): Promise<void> => {
    const token = testToken('ana')
    await new HttpClient({ url: gateway.url, space: 'test', token }).erase(seq, 'a secret')
  }
  const settlings: [string, (here: Remembering, message: { id: string; seq: number }) => Promise<unknown>][] =
    [
      ['erased', (here, { seq }) => erase(here, seq)],
      ['taken back', ({ ana }, { id }) => ana.send({ kind: Kind.chatCancel, correlationId: id })],
    ]

  test.each(settlings)('%s, by an agent that is there', async (_, settle) => {
    const here = await remembering()
    const { ana, run } = here
    const secret = await ana.chat('The code is 1234', { mention: 'bob' })
    const program = await run(noteTaker(), { memory })
    await askAll(ana, 'one', 'two', 'three')
    expect(notesOf(program)[0]).toContain('1234')
    await settle(here, { id: secret.id, seq: secret.seq ?? 0 })
    const before = program.model.requests.length
    await askAll(ana, 'four')
    const since = program.model.requests.slice(before)
    expect(JSON.stringify(since)).not.toMatch(/1234|summary 1/)
    expect(promptOf(program)).toEqual([`${summary(2)}\n\nana: three`, 'noted', 'ana: four'])
  })

  test.each(settlings)('%s, by an agent that was away', async (_, settle) => {
    const here = await remembering()
    const { ana, run } = here
    const transcriptStore = new MemoryTranscript()
    const secret = await ana.chat('The code is 1234', { mention: 'bob' })
    const first = await run(noteTaker(), { memory, transcriptStore })
    await askAll(ana, 'one', 'two', 'three')
    first.kill()
    await settle(here, { id: secret.id, seq: secret.seq ?? 0 })
    const second = await run(noteTaker(), { memory, transcriptStore })
    await askAll(ana, 'four')
    expect(allSent(second)).not.toContain('1234')
    expect(promptOf(second)).toEqual([`${summary(1)}\n\nana: three`, 'noted', 'ana: four'])
    expect(notesOf(second)[0]).toContain('ana: one')
  })

  test('not where it was something newer, nor where somebody else wanted to take it back', async () => {
    const here = await remembering()
    const { ana, run, enter } = here
    const bob = await enter('bob')
    const old = await ana.chat('zero', { mention: 'bob' })
    const program = await run(noteTaker(), { memory })
    await askAll(ana, 'one', 'two', 'three')
    const fresh = await ana.chat('never mind', { mention: 'bob' })
    await ana.send({ kind: Kind.chatCancel, correlationId: fresh.id })
    await bob.send({ kind: Kind.chatCancel, correlationId: old.id })
    await askAll(ana, 'four')
    expect(notesOf(program)).toHaveLength(1)
    expect(promptOf(program)[0]).toContain(summary(1))
  })

  test('cleared', async () => {
    const { ana, run } = await remembering()
    const transcriptStore = new MemoryTranscript()
    const first = await run(noteTaker(), { memory, transcriptStore })
    await askAll(ana, 'one', 'two', 'three', 'four')
    await ana.send({ kind: Kind.participantClear, to: ['bot'] })
    await askAll(ana, 'five')
    expect(promptOf(first)).toEqual(['ana: five'])
    first.kill()
    const second = await run(noteTaker(), { memory, transcriptStore })
    await askAll(ana, 'six')
    expect(promptOf(second)).toEqual(['ana: five', 'noted', 'ana: six'])
  })
})

describe('participant.compact', () => {
  test('has all that everyone may read summarized, and is answered when that is done', async () => {
    const { ana, run } = await remembering()
    const program = await run(noteTaker())
    await askAll(ana, 'one', 'two')
    await ana.requestCompact('bot')
    await askAll(ana, 'three')
    expect(notesOf(program)).toHaveLength(1)
    expect(promptOf(program)).toEqual([`${summary(1)}\n\nana: three`])
    await ana.requestCompact('bot')
    await ana.requestCompact('bot')
    expect(notesOf(program)).toHaveLength(2)
  })

  test('is left to an agent that does it in its own way, and is not answered where it fails', async () => {
    const { ana, run } = await remembering()
    const program = await run(
      (request) => [isNote(request) ? { error: { message: 'No' } } : { text: 'noted' }],
      {
        settings: { maxRetries: 0 },
      },
    )
    await askAll(ana, 'one')
    await expect(ana.requestCompact('bot', { timeoutMs: 500 })).rejects.toMatchObject({ code: 'timeout' })
    expect(program.troubles).toMatchObject([{ message: expect.stringContaining('No') }])
    let count = 0
    program.bot.control({ compact: () => count++ })
    await ana.requestCompact('bot')
    expect([count, notesOf(program).length]).toEqual([1, 1])
  })
})

describe('no prompt that others get has', () => {
  test('what was said in private, be it read from the log or in a summary', async () => {
    const { ana, run, enter } = await remembering()
    const bob = await enter('bob')
    for (const start of ['a', 'b']) {
      await ana.chat('My code is 1234', { to: ['bot'] })
      const program = await run(noteTaker(), { memory, answerMissed: false })
      await bob.ask('What is her code?', { to: ['bot'] })
      for (const each of ['one', 'two', 'three']) await bob.ask(`${start} ${each}`, { mention: 'bot' })
      await ana.ask('Anything new?', { to: ['bot'] })
      await ana.requestCompact('bot')
      await ana.ask('What is my code?', { to: ['bot'] })
      expect(promptOf(program).join('\n')).toContain('My code is 1234')
      const isOwn = (request: Request): boolean =>
        /ana: (Anything new|What is my code)\?"/.test(textOf(request))
      const own = program.model.requests.filter((request) => !isNote(request) && isOwn(request))
      const others = program.model.requests.filter((request) => !own.includes(request))
      expect(JSON.stringify(others)).not.toContain('1234')
      expect(own).toHaveLength(2)
      expect(notesOf(program).length).toBeGreaterThan(0)
      program.kill()
    }
  })

  test('what was said in private with an agent that hands over the question of somebody else', async () => {
    const { ana, run, enter } = await remembering()
    const desk = await enter('bob')
    const program = await run(noteTaker(), { answerMissed: false })
    await desk.ask('Eve has a secret: 1234', { to: ['bot'] })
    const { id } = await ana.chat('What do you know?', { to: ['bob'] })
    const handOver = { message: 'ana asked: What do you know?', mentions: ['bot'], handOver: true }
    const heard = recordEnvelopes(ana)
    await desk.send({ kind: Kind.chat, to: ['bot', 'ana'], correlationId: id, payload: handOver })
    await heard.until(({ kind, from }) => kind === Kind.chat && from === 'bot')
    expect(program.model.requests).toHaveLength(2)
    expect(promptOf(program).join('\n')).not.toContain('1234')
  })

  test('what others think, shown or hidden, nor what they say in their runs', async () => {
    const { ana, run, enter } = await remembering()
    const bob = await enter('bob')
    const { id: context } = await bob.send({ kind: Kind.reasoningStart })
    await bob.send({ kind: Kind.reasoningThought, context, payload: { message: 'secret-a' } })
    await bob.setVisibility(context, false)
    await bob.send({ kind: Kind.reasoningThought, context, payload: { message: 'secret-b' } })
    await bob.send({ kind: Kind.chat, context, payload: { message: 'secret-c' } })
    const program = await run(noteTaker(), { memory })
    await askAll(ana, 'one', 'two', 'three', 'four')
    expect(notesOf(program)).toHaveLength(1)
    expect(allSent(program)).not.toContain('secret')
  })
})

test('requests of two turns at once make one summary', async () => {
  const { ana, run, enter } = await remembering()
  const bob = await enter('bob')
  const program = await run(noteTaker(), { memory })
  await askAll(ana, 'one', 'two', 'three')
  await Promise.all([ask(ana, 'four'), ask(bob, 'vier')])
  expect(notesOf(program)).toHaveLength(1)
  await eventually(() => expect(program.troubles).toEqual([]))
})
