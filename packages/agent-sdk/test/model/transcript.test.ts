import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptedModel } from '@meup/agent-sdk/ai'
import { type LogEntry, MemoryTranscript, renderDiff } from '@meup/agent-sdk/transcript'
import { type KeptEntry, replayTurn, TranscriptFile } from '@meup/agent-sdk/transcript/file'
import { testToken } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import Sqlite from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { saying, serveModel } from '../../../../test/support/model-server.js'
import { verifies } from '../../../../test/verifies.js'
import { adding, answering, type Script, stage } from './stage.js'

const token = 'ghp_0123456789abcdefABCDEF0123456789abcd'
const aFolder = (): string => mkdtempSync(join(tmpdir(), 'meup-transcript-'))

async function open(folder: string): Promise<TranscriptFile> {
  const file = await TranscriptFile.read(join(folder, 'bot.db'))
  onTestFinished(() => file.close())
  return file
}

const typesOf = (entries: readonly LogEntry[]): string[] =>
  entries.map(({ commit: { content } }) => content.content_type)
const textOf = (entries: readonly LogEntry[], type: string): string[] =>
  entries.flatMap(({ commit: { content } }) => (content.content_type === type ? [content.text] : []))

/** The contents of all files in a folder, as one text. */
const bytesOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    .join('\n')

const sumScript: Script = [
  [
    { reasoning: 'Two numbers.\n  I have a tool.' },
    { text: 'Let me add.' },
    ...adding({ _rationale: 'to be sure', a: 2, b: 3 }),
  ],
  answering('It is **5**.'),
]

describe('what is kept of a turn', () => {
  test('reasoning, answers, calls, results, tokens and settings, and of prompts how long they are', async () => {
    const transcripts = aFolder()
    await using here = await stage(sumScript, {
      transcripts,
      settings: { temperature: 0, headers: { 'x-key': 'k-77' } },
    })
    await here.ask('What are 2 and 3, Xanthippe?')
    const file = await open(transcripts)
    const entries = file.entries()
    expect(typesOf(entries)).toEqual(['prompt', 'reasoning', 'assistant', 'tool', 'prompt', 'assistant'])
    const [prompt, reasoning, calling, result, , answer] = entries as [KeptEntry, ...KeptEntry[]]
    expect(prompt.commit.content).toMatchObject({
      model: 'script',
      provider: 'scripted',
      settings: { temperature: 0 },
      earlier: 0,
      messages: [
        { role: 'system', chars: expect.any(Number), hash: expect.stringMatching(/^[\da-f]{64}$/) },
        { role: 'user' },
      ],
      tools: { count: 2 },
    })
    expect(reasoning?.commit.content).toEqual({
      content_type: 'reasoning',
      text: 'Two numbers.\n  I have a tool.',
      format: 'parsed',
    })
    expect(calling?.commit.content).toMatchObject({
      text: 'Let me add.',
      toolCalls: [{ name: 'desk__add', arguments: { _rationale: 'to be sure', a: 2, b: 3 } }],
    })
    expect(calling?.usage).toEqual({ input: 10, output: 9, reasoning: 6 })
    expect(result?.commit.content).toMatchObject({ content_type: 'tool', name: 'desk__add', text: '5' })
    expect(answer?.commit.content.text).toBe('It is **5**.')
    expect(file.verify()).toMatchObject({ ok: true, commits: 6, head: answer?.commit.hash })
    const bytes = bytesOf(transcripts)
    for (const absent of ['Xanthippe', 'What others say begins', 'k-77', 'Adds'])
      expect(bytes).not.toContain(absent)
    expect(bytes).toContain('It is **5**.')
    expect(statSync(join(transcripts, 'bot.db')).mode & 0o777).toBe(0o600)
  })

  test('with full, prompts and tools as well; with off, or without a folder, nothing', async () => {
    const transcripts = aFolder()
    await using here = await stage(sumScript, { transcripts, transcript: 'full' })
    await here.ask('What are 2 and 3, Xanthippe?')
    const prompts = (await open(transcripts)).entries({ type: 'prompt' }).map(({ commit }) => commit.content)
    expect(prompts).toMatchObject([
      {
        messages: [
          { message: { role: 'system', content: expect.stringContaining('You are "bot"') } },
          { message: { role: 'user', content: 'ana: What are 2 and 3, Xanthippe?' } },
        ],
        tools: { offered: [{ name: 'desk__add', description: 'Adds' }, { name: 'desk__look' }] },
      },
      { earlier: 2, messages: [{ role: 'assistant' }, { role: 'tool' }], tools: { count: 2 } },
    ])
    expect(prompts[1]).not.toHaveProperty('tools.offered')
    const none = aFolder()
    await using silent = await stage(sumScript, { transcripts: none, transcript: 'off' })
    await silent.ask()
    expect(readdirSync(none)).toEqual([])
  })

  test.for<[string, Script, object[]]>([
    [
      'in tags',
      [[{ text: '<think>\n  One {x}\n</think>It is 5.' }]],
      [{ text: '\n  One {x}\n', format: 'think_tags' }],
    ],
    [
      'signed',
      [
        [
          { reasoning: 'One', attached: { anthropic: { signature: 'EqQBCkYIBxgC+a/b=' } } },
          { reasoning: '', attached: { anthropic: { redactedData: 'EmwKAhgBEgy3=' } } },
          { text: 'It is 5.' },
        ],
      ],
      [
        { text: 'One', format: 'anthropic', attached: { anthropic: { signature: 'EqQBCkYIBxgC+a/b=' } } },
        { text: '', format: 'anthropic', attached: { anthropic: { redactedData: 'EmwKAhgBEgy3=' } } },
      ],
    ],
    [
      'of a field',
      [[{ reasoning: ' One \n two' }, { text: 'It is 5.' }]],
      [{ text: ' One \n two', format: 'parsed' }],
    ],
  ])('reasoning %s, to the letter', async ([, script, expected]) => {
    const transcripts = aFolder()
    await using here = await stage(script, { transcripts, reasoningDetail: 'summary' })
    await here.ask()
    const kept = (await open(transcripts))
      .entries({ type: 'reasoning' })
      .map(({ commit: { content, metadata } }) => {
        const { content_type: _, ...said } = content as { content_type: string }
        return { ...said, ...(metadata?.attached !== undefined && { attached: metadata.attached }) }
      })
    expect(kept).toEqual(expected)
  })

  verifies('T14', 'hidden reasoning is counted: no commit, but its tokens', async () => {
    const store = new MemoryTranscript()
    const hidden = scriptedModel([answering('It is 5.')])
    const doStream: typeof hidden.doStream = async (request) => {
      const { stream, ...rest } = await hidden.doStream(request)
      const counted = stream.pipeThrough(
        new TransformStream({
          transform(part, controller) {
            if (part.type === 'finish') part.usage.outputTokens = { total: 90, text: 3, reasoning: 87 }
            controller.enqueue(part)
          },
        }),
      )
      return { stream: counted, ...rest }
    }
    await using here = await stage([], { model: { ...hidden, doStream }, transcriptStore: store })
    await here.ask()
    expect(typesOf(store.entries())).toEqual(['prompt', 'assistant'])
    const answer = store.entries().at(-1)
    expect(answer?.usage).toEqual({ input: 10, output: 90, reasoning: 87 })
    expect(answer?.commit.metadata).toMatchObject({ shown: 'omitted' })
  })

  test('why there was no answer, and what was thought before', async () => {
    const transcripts = aFolder()
    const script: Script = [[{ reasoning: 'Hm' }, { text: 'It' }, { error: new Error(`no key ${token}`) }]]
    await using here = await stage(script, { transcripts })
    expect(await here.ask()).toMatch(/^I could not answer/)
    const file = await open(transcripts)
    expect(typesOf(file.entries())).toEqual(['prompt', 'reasoning', 'assistant', 'error'])
    expect(textOf(file.entries(), 'error')[0]).toMatch(/no key \[redacted:/)
    const apology = here.heard.all.find(({ kind, from }) => kind === Kind.chat && from === 'bot')
    await expect
      .poll(() => file.find(apology?.id ?? ''))
      .toMatchObject({ commit: { content: { content_type: 'error' } } })
  })

  test('turns at the same time are apart, in one chain', async () => {
    const transcripts = aFolder()
    const script: Script = (request) =>
      answering(JSON.stringify(request.prompt.at(-1)).includes('first') ? 'one' : 'two')
    await using here = await stage(script, { transcripts })
    const askers = [here.ana, here.bob, here.desk]
    const answers = await Promise.all(
      askers.map((each, at) => each.ask(at === 0 ? 'first' : 'next', { to: ['bot'] })),
    )
    expect(answers.map(({ text }) => text)).toEqual(['one', 'two', 'two'])
    const file = await open(transcripts)
    const turns = new Set(file.entries().map(({ commit }) => commit.metadata?.turn))
    expect(turns.size).toBe(3)
    for (const turn of turns) {
      expect(typesOf(file.entries({ turn: String(turn) }))).toEqual(['prompt', 'assistant'])
    }
    expect(file.verify()).toMatchObject({ ok: true, commits: 6 })
  })

  test('no secret, wherever it stands', async () => {
    const transcripts = aFolder()
    const script: Script = [
      [{ reasoning: `I have ${token}` }, ...adding({ a: 2, b: 3, password: 'hunter2-hunter2' })],
      [{ call: 'desk__more', input: {} }],
      answering(`Yours is safe, and mine is ${testToken('bot')}; the server wants kk-11-kk.`),
    ]
    const settings = { headers: { 'x-own': 'kk-11-kk' } }
    await using here = await stage(script, { transcripts, transcript: 'full', settings })
    here.desk.tool('more', {}, () => `a key: ${token}`)
    await here.ask(`My key is ${token}`)
    const bytes = bytesOf(transcripts)
    expect(bytes).toContain('Yours is safe')
    for (const secret of [token, 'hunter2-hunter2', testToken('bot'), 'kk-11-kk'])
      expect(bytes).not.toContain(secret)
    expect(textOf((await open(transcripts)).entries(), 'tool').at(-1)).toMatch(/^a key: \[redacted:/)
  })

  test('what is nested too deeply becomes text', async () => {
    const transcripts = aFolder()
    const deep = `${'['.repeat(200)}"${token}"${']'.repeat(200)}`
    const script: Script = [[{ call: 'desk__add', input: `{"a":1,"b":2,"deep":${deep}}` }], answering('3')]
    await using here = await stage(script, { transcripts })
    expect(await here.ask()).toBe('3')
    const types = typesOf((await open(transcripts)).entries())
    expect(types).toEqual(['prompt', 'assistant', 'tool', 'prompt', 'assistant'])
    expect(bytesOf(transcripts)).not.toContain(token)
  })

  test('a prompt of 10 MB by its size alone; with full, its beginning and end', async () => {
    const transcripts = aFolder()
    const instructions = `begin ${'x y '.repeat(2.5e6)} end`
    const sizesOnly = aFolder()
    await using short = await stage([answering('a')], { transcripts: sizesOnly, instructions })
    await short.ask()
    const sizes = ['bot.db', 'bot.db-wal'].map((name) => statSync(join(sizesOnly, name)).size)
    expect(Math.max(...sizes)).toBeLessThan(200_000)
    await using here = await stage([answering('a'), answering('b')], {
      transcripts,
      transcript: 'full',
      instructions,
    })
    await here.ask()
    const [entry] = (await open(transcripts)).entries()
    const content = entry?.commit.content
    if (content?.content_type !== 'prompt') throw new Error('no prompt')
    expect(content.messages[0]?.chars).toBeGreaterThan(1e7)
    const kept = JSON.stringify(content.messages[0]?.message)
    expect(kept.length).toBeLessThan(140_000)
    expect(kept).toMatch(/begin x y .*characters are not kept.* x y {2}end/s)
  })
})

describe('links', () => {
  test('the conclusion names the commit that covers the turn; each commit the envelopes that came of it', async () => {
    const transcripts = aFolder()
    await using here = await stage(sumScript, { transcripts, provider: 'openai.responses' })
    await here.ask()
    await here.heard.until(({ kind, from }) => kind === Kind.chat && from === 'bot')
    const of = (kind: string) => here.heard.all.find((each) => each.kind === kind && each.from === 'bot')
    const conclusion = of(Kind.reasoningConclusion)
    const { metadata } = (conclusion?.payload ?? {}) as { metadata?: { transcript?: string } }
    const hash = metadata?.transcript ?? ''
    const file = await open(transcripts)
    expect(file.entries().at(-1)?.commit.hash).toBe(hash)
    const found = (name = '') => {
      const entry = file.find(name)
      return entry === undefined || entry === 'several' ? entry : entry.commit.content
    }
    expect(found(hash.slice(0, 12))).toMatchObject({ text: 'It is **5**.' })
    await expect.poll(() => found(of(Kind.chat)?.id)).toMatchObject({ text: 'It is **5**.' })
    expect(found(conclusion?.id)).toMatchObject({ text: 'It is **5**.' })
    expect(found(of(Kind.mcpRequest)?.id)).toBeUndefined() // The request lists tools, which is not part of the transcript.
    const call = here.heard.all.find(({ rationale }) => rationale === 'to be sure')
    expect(found(call?.id)).toMatchObject({ toolCalls: [{ name: 'desk__add' }] })
    const thought = of(Kind.reasoningThought)
    expect(found(thought?.id)).toMatchObject({ text: 'Let me add.' })
    const own = here.heard.all.filter(({ from }) => from === 'bot')
    const spoken = own.findLast(({ kind }) => kind === Kind.reasoningThought)
    expect(spoken?.payload).toMatchObject({ message: 'Let me add.' })
    expect(found(spoken?.id)).toMatchObject({ content_type: 'assistant', text: 'Let me add.' })
    expect(found('nothing')).toBeUndefined()
  })
})

describe('a replay', () => {
  test('asks the same model the same: no difference; another answers otherwise', async () => {
    const transcripts = aFolder()
    await using here = await stage(sumScript, { transcripts, transcript: 'full' })
    await here.ask()
    const before = here.heard.all.length
    const turn = (await open(transcripts)).entries()
    const said = (entries: readonly LogEntry[]) =>
      entries.filter(({ commit }) => commit.content.content_type !== 'prompt')
    const same = await replayTurn(turn, { model: scriptedModel(sumScript) })
    expect([renderDiff(said(turn), said(same.entries)), same.changedMessages]).toEqual(['', 0])
    const other = scriptedModel([adding({ _rationale: 'why not', a: 2, b: 3 }), answering('Five.')])
    const { entries } = await replayTurn(turn, { model: other })
    expect(renderDiff(said(turn), said(entries), { colour: false })).toContain(
      '-   It is **5**.\n+   Five.\n',
    )
    expect(other.requests[1]?.prompt.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ output: { value: '5' } }],
    })
    const wild = scriptedModel([adding({ a: 9, b: 9 })])
    const ended = await replayTurn(turn, { model: wild })
    expect(ended.entries.at(-1)?.commit.content).toMatchObject({
      content_type: 'error',
      text: expect.stringMatching(/desk__add .*was not called then/),
    })
    expect(here.heard.all.length).toBe(before)
  })

  test('may send other instructions than those of then', async () => {
    const transcripts = aFolder()
    await using here = await stage([answering('Five.')], { transcripts, transcript: 'full' })
    await here.ask()
    const model = scriptedModel([answering('5')])
    await replayTurn((await open(transcripts)).entries(), { model, instructions: 'Answer in digits.' })
    const [system] = model.requests[0]?.prompt ?? []
    expect(system).toMatchObject({ role: 'system', content: 'Answer in digits.' })
  })

  describe('of a file that names a server', () => {
    /** Entries of a turn whose prompts name this address as their server. */
    async function answeredAt(baseURL: string) {
      const transcripts = aFolder()
      await using here = await stage([answering('Five.')], { transcripts, transcript: 'full' })
      await here.ask()
      const entries = (await open(transcripts)).entries()
      return entries.map((entry) =>
        entry.commit.content.content_type === 'prompt'
          ? {
              ...entry,
              commit: {
                ...entry.commit,
                content: {
                  ...entry.commit.content,
                  baseURL,
                  settings: { headers: { 'x-from-the-file': 'yes' } },
                },
              },
            }
          : entry,
      )
    }

    test('sends nothing there until somebody confirms the address', async () => {
      const { baseURL, requests } = await serveModel(() => saying('Five.'))
      const turn = await answeredAt(baseURL)
      const asked: string[] = []
      await expect(replayTurn(turn, { apiKey: 'hush-hush' })).rejects.toMatchObject({
        code: 'unconfirmed_address',
      })
      const refuse = (address: string): boolean => asked.push(address) === 0
      await expect(replayTurn(turn, { confirmAddress: refuse })).rejects.toMatchObject({
        code: 'unconfirmed_address',
      })
      expect([asked, requests]).toEqual([[baseURL], []])
    })

    test('sends no key and no header of the file to the confirmed address', async () => {
      const { baseURL, requests } = await serveModel(() => saying('Five.'))
      const turn = await answeredAt(baseURL)
      await replayTurn(turn, { apiKey: 'hush-hush', confirmAddress: async () => true })
      expect(requests).toHaveLength(1)
      expect(requests[0]?.headers).not.toHaveProperty('authorization')
      expect(requests[0]?.headers).not.toHaveProperty('x-from-the-file')
    })

    test('sends the key to the baseURL of the caller alone', async () => {
      const [theirs, ours] = [await serveModel(() => saying('No.')), await serveModel(() => saying('Yes.'))]
      const turn = await answeredAt(theirs.baseURL)
      await replayTurn(turn, { baseURL: ours.baseURL, apiKey: 'hush-hush' })
      expect(ours.requests[0]?.headers.authorization).toBe('Bearer hush-hush')
      expect(theirs.requests).toEqual([])
    })
  })

  test('needs prompts', async () => {
    const transcripts = aFolder()
    await using here = await stage(sumScript, { transcripts })
    await here.ask()
    const turn = (await open(transcripts)).entries()
    await expect(replayTurn(turn)).rejects.toMatchObject({ code: 'prompts_not_stored' })
  })
})

describe('a file', () => {
  const draft = (text: string, at = new Date()) => ({
    content: { content_type: 'assistant' as const, text },
    metadata: { at: at.toISOString(), turn: 't' },
  })
  test('that cannot be made: the agent answers all the same, and says so once', async () => {
    const folder = join(aFolder(), 'taken')
    writeFileSync(folder, '')
    await using here = await stage([answering('a'), answering('b')], { transcripts: folder })
    expect([await here.ask(), await here.ask()]).toEqual(['a', 'b'])
    expect(here.troubles).toMatchObject([{ message: expect.stringContaining('no transcript is kept') }])
  })

  test('that cannot be written any more: the same', async () => {
    const transcripts = aFolder()
    await using here = await stage([answering('a'), answering('b'), answering('c')], { transcripts })
    await here.ask()
    const db = new Sqlite(join(transcripts, 'bot.db'))
    db.exec('DROP TABLE commits')
    db.close()
    expect([await here.ask(), await here.ask()]).toEqual(['b', 'c'])
    expect(here.troubles).toMatchObject([{ message: expect.stringContaining('the transcript ends here') }])
  })

  test('of which a commit was changed, or removed, tells which', async () => {
    const path = join(aFolder(), 'a.db')
    const file = await TranscriptFile.open(path)
    onTestFinished(() => file.close())
    const commits = file.append(['one', 'two', 'three'].map((text) => draft(text)))
    expect(file.verify()).toEqual({ ok: true, commits: 3, first: 1, head: commits[2]?.hash })
    const db = new Sqlite(path)
    onTestFinished(() => void db.close())
    expect(() => db.exec(`UPDATE commits SET body = replace(body, 'two', 'tow')`)).toThrow('not changed')
    expect(() => db.exec('DELETE FROM commits WHERE number = 2')).toThrow('from the beginning only')
    db.exec('DROP TRIGGER commits_append_only; DROP TRIGGER commits_kept')
    db.exec(`UPDATE commits SET body = replace(body, 'two', 'tow') WHERE number = 2`)
    expect(file.verify()).toMatchObject({
      ok: false,
      number: 2,
      hash: commits[1]?.hash,
      problem: expect.stringContaining('hash'),
    })
    db.exec(`UPDATE commits SET body = replace(body, 'tow', 'two') WHERE number = 2`)
    db.exec(`UPDATE commits SET turn = 'u' WHERE number = 3`)
    expect(file.verify()).toMatchObject({ ok: false, number: 3, problem: expect.stringContaining('columns') })
    db.exec('DELETE FROM commits WHERE number = 2')
    expect(file.verify()).toMatchObject({ ok: false, number: 3, problem: expect.stringContaining('missing') })
  })

  test('loses what is too old, and too much, from its beginning, and is whole all the same', async () => {
    const path = join(aFolder(), 'a.db')
    let day = 1
    const now = () => day * 86_400_000
    const file = await TranscriptFile.open(path, { days: 30, bytes: 400_000, now })
    onTestFinished(() => file.close())
    for (; day <= 100; day++) file.append([draft(`of day ${day}`, new Date(now()))])
    const [oldest] = file.entries()
    const ofDay = Number(oldest?.commit.content.text.slice(7))
    expect(ofDay).toBeGreaterThan(20)
    expect(file.entries().at(-1)?.commit.content.text).toBe('of day 100')
    expect(file.verify()).toMatchObject({ ok: true, first: oldest?.number })
    for (let n = 0; n < 400; n++) file.append([draft('x'.repeat(4000), new Date(now()))])
    const kept = file.entries()
    // Only every 64th commit prunes the file, so that more than 400,000 bytes may be stored in between.
    expect(kept.length).toBeGreaterThan(60)
    expect(kept.length).toBeLessThan(200)
    expect(file.verify()).toMatchObject({ ok: true, commits: kept.length, first: 501 - kept.length })
    const huge = file.append([draft('y'.repeat(600_000), new Date(now()))])
    for (let n = 0; n < 200; n++) file.append([draft('z', new Date(now()))])
    expect(file.find(huge[0]?.hash ?? '')).toBeUndefined()
  })

  test('is another program’s: it is left as it is', async () => {
    const path = join(aFolder(), 'a.db')
    new Sqlite(path).exec('CREATE TABLE mine (x)').close()
    const bytes = readFileSync(path)
    await expect(TranscriptFile.open(path)).rejects.toMatchObject({
      code: 'foreign_file',
      details: { file: path },
    })
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })
})
