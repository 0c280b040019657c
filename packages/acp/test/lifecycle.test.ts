import { setTimeout as wait } from 'node:timers/promises'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { startCoder } from './support/coder.js'

describe('text behind the answer of a prompt', () => {
  test('is the answer, where there was none', async () => {
    const { ask } = await startCoder()
    expect(await ask(['later', 150, 'Here it is.'])).toBe('Here it is.')
  })

  test('is the end of the answer, where it comes at once', async () => {
    const { ask } = await startCoder()
    expect(await ask(['text', 'The answer '], ['later', 5, 'is '], ['later', 30, '42.'])).toBe(
      'The answer is 42.',
    )
  })
})

describe('an agent that starts', () => {
  test('is refused where it takes too long, with its last lines', async () => {
    const started = startCoder({
      behaviour: { hangs: true, complaints: ['npm warn one', 'installing 512 packages'] },
      startTimeoutMs: 6000,
    })
    await expect(started).rejects.toMatchObject({
      code: 'not_started',
      details: { reason: expect.stringContaining('installing 512 packages') },
      cause: { code: 'not_introduced', details: { seconds: 6 } },
    })
  })

  test('hands its lines to the operator while it starts', async () => {
    const { lines } = await startCoder({ behaviour: { complaints: ['installing'] } })
    expect(lines).toContain('installing')
  })

  test.each([2, '0.9', 'x'])('is refused where it speaks version %s', async (protocolVersion) => {
    await expect(startCoder({ behaviour: { initialize: { protocolVersion } } })).rejects.toMatchObject({
      cause: { code: 'other_version', details: { version: JSON.stringify(protocolVersion) } },
    })
  })

  test('may leave out all but the version', async () => {
    const initialize = { agentInfo: null, agentCapabilities: null, authMethods: null }
    const { ask } = await startCoder({ behaviour: { initialize, session: { modes: null, models: null } } })
    expect(await ask(['text', 'Done.'])).toBe('Done.')
  })

  test('is refused where it opens a session without an id', async () => {
    await expect(startCoder({ behaviour: { session: { sessionId: 5 } } })).rejects.toMatchObject({
      code: 'no_session',
      details: { reason: 'its id is 5' },
    })
  })
})

describe('a participant answers what it is asked', () => {
  test('from the moment at which it joins', async () => {
    const { ana, agent, join } = await startCoder({ behaviour: { opensMs: 100 } })
    await agent.close()
    const answers: Promise<string>[] = []
    let at = 0
    ana.on('envelope', ({ kind, payload }) => {
      const { event, participant } = Object(payload)
      if (kind !== Kind.systemPresence || event !== 'join' || participant.id !== 'coder') return
      const question = wait(at++ * 10).then(() =>
        ana.ask('[["text","Here."]]', { to: ['coder'], timeoutMs: 30_000 }),
      )
      answers.push(question.then(({ text }) => text))
    })
    for (let start = 0; start < 6; start++) {
      const again = await join()
      await expect.poll(() => answers.length).toBe(start + 1)
      expect(await answers[start]).toBe('Here.')
      await again.close()
    }
  })

  test('also after a turn whose session could not be opened, which fails alone', async () => {
    const { ana, ask } = await startCoder({ behaviour: { refuses: [2] } })
    const question = '[["text","Here."]]'
    expect((await ana.ask(question, { to: ['coder'] })).text).toContain('there is no room for a session')
    expect((await ana.ask(question)).text).toBe('Here.')
    expect(await ask(['text', 'Here again.'])).toBe('Here again.')
  })

  test('also after its agent has closed its stdout and lives on', async () => {
    const { ask } = await startCoder()
    expect(await ask(['closeStdout'], ['work', 60_000])).toContain('it closed its stdout')
    expect(await ask(['text', 'Here again.'])).toBe('Here again.')
  })

  test('also after its agent was stopped by a signal, and the question was taken back', async () => {
    const { ana, ask, lines, notes, seen } = await startCoder()
    const { id } = await ana.chat('[["request","x/y"],["freeze"]]', { to: ['coder'] })
    await seen(Kind.reasoningStart)
    await wait(500)
    await ana.send({ kind: Kind.chatCancel, to: ['coder'], correlationId: id })
    const second = ask(['text', 'Here again.'])
    await expect.poll(() => lines.join('\n'), { timeout: 20_000 }).toContain('did not answer a cancel')
    expect(await second).toBe('Here again.')
    expect(notes().some(({ cancelled }) => cancelled !== undefined)).toBe(false)
  })

  test('but an agent that was stopped by a signal is ended with it', async () => {
    const { ana, agent, seen } = await startCoder()
    await ana.chat('[["freeze"]]', { to: ['coder'] })
    await seen(Kind.reasoningStart)
    await agent.close()
    expect(await agent.ended).toMatchObject({ isFinal: false })
  })

  test('the questions that wait too, where the agent dies at each', async () => {
    const { ana, ask } = await startCoder()
    const questions = Array.from({ length: 4 }, () =>
      ana.ask('[["exit",1]]', { to: ['coder'], timeoutMs: 30_000 }),
    )
    for (const { text } of await Promise.all(questions)) expect(text).toContain('exit 1')
    expect(await ask(['text', 'Here.'])).toBe('Here.')
  })
})
