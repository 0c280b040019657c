import { expect, onTestFinished, test, vi } from 'vitest'
import { Space } from '../src/core/space.js'
import { range } from './client.js'
import { frame, RawSocket } from './raw-socket.js'
import { start } from './support.js'

const [sockets, frames] = [8, 500]
const typing = frame(1, '{"kind":"observe.typing"}')

/** Counts the submitted frames of each participant, by turn of the event loop. */
function countDecided() {
  let turn = new Map<string, number>()
  const turns = [turn]
  const next = (): void => {
    turn = new Map()
    turns.push(turn)
    scheduled = setImmediate(next)
  }
  let scheduled = setImmediate(next)
  onTestFinished(() => clearImmediate(scheduled))
  const submit = vi.spyOn(Space.prototype, 'submit').mockImplementation(({ participant }) => {
    turn.set(participant, (turn.get(participant) ?? 0) + 1)
    return { id: 'x', seq: 0 }
  })
  onTestFinished(() => submit.mockRestore())
  const of = (name: string): number[] => turns.map((each) => each.get(name) ?? 0)
  return { of, total: (name: string) => of(name).reduce((sum, count) => sum + count, 0) }
}

async function open(url: string, token: string): Promise<RawSocket> {
  const socket = new RawSocket(url).upgrade(token)
  await socket.until(/system\.welcome/)
  return socket
}

test('all sockets of a participant share what one may bring in a turn of the event loop', async () => {
  const { url } = await start({ participants: { alice: ['*'], bob: ['*'] } })
  const ofAlice = await Promise.all(range(1, sockets).map(() => open(url, 'token-of-alice')))
  const ofBob = await open(url, 'token-of-bob')
  const decided = countDecided()
  const many = Buffer.concat(range(1, frames).map(() => typing))
  for (const socket of [...ofAlice, ofBob]) socket.write(many)
  await expect.poll(() => decided.total('alice')).toBe(sockets * frames)
  await expect.poll(() => decided.total('bob')).toBe(frames)
  // Sockets are read in slices of many frames: the last slice of a turn of the event loop may exceed the limit of 256 frames.
  expect(Math.max(...decided.of('alice'))).toBeLessThan(400)
  expect(Math.max(...decided.of('bob'))).toBeGreaterThan(200)
})

test('a socket that brings much lets the others of its participant come in turn', async () => {
  const { url } = await start({ participants: { alice: ['*'] } })
  const [busy, other] = [await open(url, 'token-of-alice'), await open(url, 'token-of-alice')]
  const decided = countDecided()
  let before = 0
  const submit = vi.mocked(Space.prototype.submit)
  const count = submit.getMockImplementation()
  submit.mockImplementation((sender, bytes) => {
    if (Buffer.from(bytes).includes('"last"')) before = decided.total('alice')
    return count?.(sender, bytes) ?? { id: 'x', seq: 0 }
  })
  busy.write(Buffer.concat(range(1, 20 * frames).map(() => typing)))
  other.write(frame(1, '{"kind":"observe.typing","id":"last"}'))
  await expect.poll(() => before).toBeGreaterThan(0)
  expect(before).toBeLessThan(4000)
  await expect.poll(() => decided.total('alice')).toBe(20 * frames + 1)
})
