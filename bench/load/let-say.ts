import type { Running } from '../peers/contenders.js'
import { senderName } from '../peers/space.js'
import { openSeats } from './seats.js'
import { until } from './waiting.js'

/** Maximum number of messages in flight. */
const window = 256

/** Sends `count` envelopes as the first sender, each with its own id. Resolves when the gateway has accepted all. */
export async function letSay(server: Running, count: number, draft: (i: number) => object): Promise<void> {
  const [line] = await openSeats(server, [senderName(0)])
  if (line === undefined) throw new Error('the sender has no seat')
  const { wrapping, socket, failed } = line
  let taken = 0
  line.onText = (text) => {
    if (text.includes('"id":"prepared-')) taken++
  }
  for (let i = 0; i < count; i++) {
    const text = Buffer.from(JSON.stringify({ id: `prepared-${i}`, ...draft(i) }))
    socket.write(Buffer.concat([wrapping.before(text.length), text, wrapping.after]))
    if (i % window === 0) await Promise.race([until(() => taken >= i - window), failed])
  }
  await Promise.race([until(() => taken === count), failed])
  await line.close()
}
