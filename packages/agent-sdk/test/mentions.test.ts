import { createTestSpace } from '@meup/agent-sdk/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

async function room() {
  const space = await createTestSpace({
    participants: { ana: ['*'], bot: ['*'], cem: ['*'], others: ['chat'] },
  })
  onTestFinished(() => space.close())
  const [ana, bot, cem] = [await space.join('ana'), await space.join('bot'), await space.join('cem')]
  const asked: string[] = []
  for (const agent of [bot, cem]) {
    void agent.answer(async (turn) => {
      asked.push(`${agent.id}: ${turn.text}`)
      await turn.reply(`${agent.id} answers`)
    })
  }
  return { ana, bot, cem, asked }
}

describe('a mention', () => {
  test('asks one participant, and everybody reads question and answer', async () => {
    const { ana, cem, asked } = await room()
    const read: string[] = []
    cem.on('envelope', ({ kind, payload }) => void (kind === 'chat' && read.push(String(payload.message))))
    expect((await ana.ask('well?', { mention: 'bot' })).text).toBe('bot answers')
    await ana.ask('and you?', { mention: ['cem'] })
    expect(asked).toEqual(['bot: well?', 'cem: and you?'])
    await expect.poll(() => read).toEqual(['well?', 'bot answers', 'and you?', 'cem answers'])
  })

  test('of nobody asks everybody', async () => {
    const { ana, asked } = await room()
    await ana.chat('well?', { mention: [] })
    await expect.poll(() => asked.toSorted()).toEqual(['bot: well?', 'cem: well?'])
  })

  test('in an answer asks', async () => {
    const { ana, asked } = await room()
    const { id } = await ana.chat('first', { mention: 'bot' })
    await ana.chat('second', { mention: 'cem', correlationId: id })
    await expect.poll(() => asked).toContain('cem: second')
  })

  test.each([
    ['a stranger', { mention: 'dan' }, 'participant_not_found'],
    ['who may not read it', { to: ['bot'], mention: 'cem' }, 'invalid_payload'],
    ['seventeen', { mention: Array.from({ length: 17 }, () => 'bot') }, 'invalid_payload'],
  ])('of %s is refused', async (_, options, code) => {
    const { ana } = await room()
    await expect(ana.chat('well?', options)).rejects.toMatchObject({ code })
  })
})

describe('what names nobody', () => {
  const participants = { ana: ['*'], bot: ['*'], cem: ['*'], dan: ['*'] }

  test.each([
    ['bot', ['bot']],
    [undefined, ['bot', 'cem', 'dan']],
  ])('asks the front desk %s', async (frontDesk, expected) => {
    const space = await createTestSpace({ participants, ...(frontDesk && { frontDesk }) })
    onTestFinished(() => space.close())
    const ana = await space.join('ana')
    expect(ana.welcome.space.frontDesk).toBe(frontDesk)
    const asked: string[] = []
    for (const id of ['bot', 'cem', 'dan']) {
      const agent = await space.join(id)
      void agent.answer(async (turn) => {
        asked.push(id)
        await turn.reply('yes')
      })
    }
    await ana.ask('anybody?')
    await ana.ask('cem?', { mention: 'cem' })
    await ana.ask('dan?', { to: ['dan'] })
    expect(asked.toSorted()).toEqual([...expected, 'cem', 'dan'].toSorted())
  })
})

test('what a participant is for is known to everybody', async () => {
  const bot = { kind: 'agent', capabilities: ['*'], description: 'knows trains' }
  const space = await createTestSpace({ participants: { ana: ['*'], bot } })
  onTestFinished(() => space.close())
  const ana = await space.join('ana')
  const known = ana.participants.map(({ id, description }) => [id, description])
  expect(known).toEqual([
    ['ana', undefined],
    ['bot', 'knows trains'],
  ])
})

describe('the answer to a question of its own', () => {
  test.each([{ to: ['cem'] }, { mention: 'cem' }, { to: ['cem', 'others'], mention: 'cem' }])(
    'with %j asks the agent nothing',
    async (options) => {
      const space = await createTestSpace({
        participants: { ana: ['*'], bot: ['*'], cem: ['*'], others: ['chat'] },
      })
      onTestFinished(() => space.close())
      const [ana, bot, cem] = [await space.join('ana'), await space.join('bot'), await space.join('cem')]
      const asked: string[] = []
      void bot.answer(async (turn) => {
        asked.push(turn.text)
        if (turn.text === 'well?') await turn.reply((await bot.ask('and?', options)).text)
      })
      // Answers like programs in other languages may: with `to` and `mention` of the asker.
      cem.on('envelope', ({ kind, id, from, correlationId }) => {
        if (kind === 'chat' && from === 'bot' && correlationId === undefined)
          void cem.chat('all is well', { to: ['bot'], mention: 'bot', correlationId: id })
      })
      expect((await ana.ask('well?', { mention: 'bot' })).text).toBe('all is well')
      expect(
        (await ana.ask('still?', { mention: 'bot', timeoutMs: 300 }).catch(() => ({ text: '' }))).text,
      ).toBe('')
      expect(asked).toEqual(['well?', 'still?'])
    },
  )
})
