import type { SpaceClient, Turn } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { expect, onTestFinished, test } from 'vitest'

const refusals: Readonly<Record<string, (space: SpaceClient, turn: Turn) => Promise<unknown>>> = {
  'space.call': (space) => space.call('files/read', {}),
  'run.call': async (_, turn) => (await turn.reason('Hm')).call('files/read', {}, { why: 'to know' }),
  'space.grant': (space) => space.grant('ana', ['mcp.*']),
  'space.pause': (space) => space.pause(['ana']),
  'turn.acknowledge': (_, turn) => turn.acknowledge(),
}

test.each(Object.keys(refusals))('the stack of a refused %s has the line of the agent', async (name) => {
  const quiet = { kind: 'agent', capabilities: [{ kind: 'chat', payload: {} }, 'reasoning.*'] } as const
  const space = await createTestSpace({ participants: { ana: ['*'], bot: quiet, files: ['*'] } })
  onTestFinished(() => space.close())
  const [ana, bot] = [await space.join('ana'), await space.join('bot'), await space.join('files')]
  const failed = new Promise<Error>((resolve) => {
    void bot.answer(
      async function ownLine(turn) {
        await refusals[name]?.(bot, turn)
      },
      { onError: (error) => resolve(error as Error) },
    )
  })
  await ana.chat('go', { to: ['bot'] })
  const { stack, message } = await failed
  expect(message).toContain('is not allowed to send')
  expect(stack).toContain(message)
  expect(stack).toContain('ownLine')
  expect(stack?.indexOf('ownLine')).toBeLessThan(stack?.indexOf('turns.ts') ?? 0)
})
