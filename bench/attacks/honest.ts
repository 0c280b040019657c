import { Agent, get } from 'node:http'
import { Kind } from '@meup/protocol'
import { WebSocket } from 'ws'
import { spaceName } from '../load/dialects.js'
import { pause } from '../load/waiting.js'
import { receiverName, senderName, tokenOf } from '../peers/space.js'

export const honest = { senders: 20, readers: 10, chatsPerSecond: 5, pageRows: 100, pageEveryMs: 500 }

/** The quality of service for honest participants during an attack. */
export interface Service {
  readonly sent: number
  /** Milliseconds from sending to the acknowledgement, for each message that was acknowledged. */
  readonly acks: readonly number[]
  /** Milliseconds from the request to the last byte, for each page of history. */
  readonly reads: readonly number[]
  readonly failedReads: number
}

/** Milliseconds to wait for acknowledgements after the last message. */
const graceMs = 2000
const backMs = 250

/** Simulates honest participants for `ms` milliseconds: senders chat at a steady rate, and readers page through history. */
export async function useHonestly(port: number, ms: number): Promise<Service> {
  const [acks, reads]: [number[], number[]] = [[], []]
  let [sent, failedReads] = [0, 0]

  const senders = Array.from({ length: honest.senders }, (_, index) => {
    const sentAt = new Map<string, number>()
    const socket = keepConnected(port, senderName(index), (text) => {
      const id = /"id":"(h-[^"]+)"/.exec(text)?.[1]
      const at = id === undefined ? undefined : sentAt.get(id)
      if (id === undefined || at === undefined || !text.includes('"seq":')) return
      acks.push(performance.now() - at)
      sentAt.delete(id)
    })
    return { index, socket, sentAt }
  })
  await Promise.all(senders.map(({ socket }) => socket.opened))
  const end = performance.now() + ms

  async function chat({ index, socket, sentAt }: (typeof senders)[number]): Promise<void> {
    const everyMs = 1000 / honest.chatsPerSecond
    await pause((everyMs * index) / honest.senders)
    const begin = performance.now()
    for (let i = 0; performance.now() < end; i++) {
      const id = `h-${index}-${i}-${Math.round(begin)}`
      sentAt.set(id, performance.now())
      sent++
      socket.send(JSON.stringify({ id, kind: Kind.chat, payload: { message: `${i}: all is well` } }))
      await pause(Math.max(0, begin + (i + 1) * everyMs - performance.now()))
    }
    await pause(graceMs)
    socket.close()
  }

  async function read(index: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await pause((honest.pageEveryMs * index) / honest.readers)
    while (performance.now() < end) {
      const begin = performance.now()
      const path = `/spaces/${spaceName}/envelopes?order=desc&limit=${honest.pageRows}`
      const isRead = await turnPage(port, path, receiverName(index), agent)
      if (isRead) reads.push(performance.now() - begin)
      else failedReads++
      await pause(Math.max(0, begin + honest.pageEveryMs - performance.now()))
    }
    agent.destroy()
  }

  const readers = Array.from({ length: honest.readers }, (_, index) => read(index))
  await Promise.all([...senders.map(chat), ...readers])
  return { sent, acks, reads, failedReads }
}

interface Kept {
  /** Resolves once the connection is open for the first time. */
  readonly opened: Promise<void>
  send(text: string): void
  close(): void
}

/**
 * Keeps a participant connected: replaces the connection when it ends. Messages sent in between are lost, and count against the
 * gateway.
 */
function keepConnected(port: number, participant: string, onText: (text: string) => void): Kept {
  let socket: WebSocket
  let isClosed = false
  let opened = (): void => {}
  const open = (): void => {
    const headers = { authorization: `Bearer ${tokenOf(participant)}` }
    socket = new WebSocket(`ws://127.0.0.1:${port}/spaces/${spaceName}/ws`, 'meup.v0.3', { headers })
    socket.on('message', (data) => onText(String(data)))
    socket.on('open', () => opened())
    socket.on('error', () => {})
    socket.on('close', () => {
      if (!isClosed) setTimeout(open, backMs)
    })
  }
  open()
  return {
    opened: new Promise((resolve) => {
      opened = resolve
    }),
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text)
    },
    close: () => {
      isClosed = true
      socket.close()
    },
  }
}

/** Requests a page of history. Returns whether all of it arrived. */
function turnPage(port: number, path: string, participant: string, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${tokenOf(participant)}` }
    get({ port, path, agent, headers }, (response) => {
      response.on('error', () => resolve(false))
      response.on('end', () => resolve(response.statusCode === 200 && response.complete))
      response.resume()
    }).on('error', () => resolve(false))
  })
}
