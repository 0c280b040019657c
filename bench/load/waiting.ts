import type { Connection } from './line.js'
import { placeOfSender } from './sender.js'
import { numberAt, numberBehindSender } from './template.js'

const timeoutMs = 60_000

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Resolves once the condition is true. Checks it every millisecond, because data that arrives in between may make it true. */
export async function until(isSo: () => boolean, what = isSo.toString()): Promise<void> {
  const end = performance.now() + timeoutMs
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`it did not come to this in ${timeoutMs} ms: ${what}`)
    await pause(1)
  }
}

/** Makes a reader throw at a message that is not the next one of its sender. `next`: the expected number by sender, updated. */
export function checkOrder(reader: Connection['reader'], reads: string, next: number[]): void {
  reader.watch = (bytes, from, to) => {
    const place = placeOfSender(bytes, from, to)
    const sender = (bytes[place] ?? 0) - 48
    const number = numberAt(bytes, place + numberBehindSender)
    if (number !== next[sender])
      throw new Error(`${reads} got ${number} of s${sender}, and not ${next[sender]}`)
    next[sender] = number + 1
  }
}
