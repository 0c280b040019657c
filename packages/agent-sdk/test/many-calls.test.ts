import { createTestSpace } from '@meup/agent-sdk/testing'
import { expect, onTestFinished, test } from 'vitest'

test('many calls at once with one signal are ended by it, and are no leak to Node', async () => {
  const warnings: string[] = []
  const onWarning = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  await using space = await createTestSpace({ participants: { ana: ['*'], desk: ['*'] } })
  const [ana, desk] = [await space.join('ana'), await space.join('desk')]
  let begun = 0
  const all = 50
  const stop = new AbortController()
  desk.tool('wait', {}, () => {
    if (++begun === all) stop.abort('enough')
    return new Promise<string>(() => {})
  })
  const calls = Array.from({ length: all }, () => ana.call('desk/wait', {}, { signal: stop.signal }))
  const ends = await Promise.allSettled(calls)
  expect(ends.map(({ status }) => status)).toEqual(calls.map(() => 'rejected'))
  expect(String(Object(ends[0]).reason)).toContain('enough')
  // Node emits its warning of too many listeners for one signal in a later tick.
  await new Promise((resolve) => setImmediate(resolve))
  expect(warnings).toEqual([])
})
