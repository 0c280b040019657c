import type { Connection, OutboundBatch } from '@meup/gateway'

/** A connection whose peer reads no frames until `takeAll` is called. */
export function slowPeer() {
  let takeAll = (): void => {}
  const seqs: number[] = []
  const taken: Promise<void> = new Promise((resolve) => {
    takeAll = resolve
  })
  let close = (_: { code: number; reason: string }): void => {}
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    close = resolve
  })
  const connection: Connection = {
    remote: 'test',
    pending: 0,
    isGone: false,
    send({ messages }: OutboundBatch) {
      for (const { text } of messages) {
        const { seq } = JSON.parse(Buffer.from(text).toString()) as { seq?: number }
        if (seq !== undefined) seqs.push(seq)
      }
    },
    drained: () => taken,
    close: (code, reason) => close({ code, reason }),
  }
  return { connection, seqs, closed, takeAll }
}
