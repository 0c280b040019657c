import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { testToken } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'

interface Chatter {
  readonly url: string
  readonly space: string
  readonly agents: number
  /** Envelopes per second of all agents together. */
  readonly perSecond: number
  readonly seconds: number
}

/** Milliseconds between two bursts. */
const every = 20
/** Number of envelopes in one run. */
const length = 10

/** Text of the last message. */
export const theEnd = 'That was all.'

/**
 * Runs agents that think and call tools without a pause. Every tenth envelope is a message with the time at which it was sent,
 * in milliseconds since 1970. Returns that time for the last message.
 */
export async function chatter({ url, space, agents, perSecond, seconds }: Chatter): Promise<number> {
  const speakers = await Promise.all(
    Array.from({ length: agents }, (_, i) =>
      SpaceClient.open(dialWs, { url, space, token: testToken(`agent-${i}`) }),
    ),
  )
  try {
    return await talk(speakers, perSecond * seconds, perSecond)
  } finally {
    // Close the clients; otherwise they would try to reconnect to the stopped gateway, and keep this process alive.
    await Promise.all(speakers.map((speaker) => speaker.close()))
  }
}

async function talk(speakers: readonly SpaceClient[], all: number, perSecond: number): Promise<number> {
  // The agents do not subscribe to reasoning: receiving each other's would cost more than sending.
  await Promise.all(speakers.map((speaker) => speaker.subscribe({ reasoning: 'none' })))
  const failures: unknown[] = []
  const start = performance.now()
  let sent = 0
  while (sent < all) {
    const due = Math.min(Math.floor(((performance.now() - start) / 1000) * perSecond), all)
    for (; sent < due; sent++) {
      const speaker = speakers[sent % speakers.length]
      speaker?.send(draftOf(sent, speakers.length)).catch((error: unknown) => failures.push(error))
    }
    await new Promise((resolve) => setTimeout(resolve, every))
  }
  const ended = Date.now()
  await speakers[0]?.chat(theEnd)
  if (failures.length > 0) throw new Error(`${failures.length} were refused`, { cause: failures[0] })
  return ended
}

function draftOf(sent: number, agents: number) {
  const step = Math.floor(sent / agents) % length
  const run = `live-${Math.floor(sent / (agents * length))}-${sent % agents}`
  const call = {
    jsonrpc: '2.0',
    id: sent,
    method: 'tools/call',
    params: { name: 'read', arguments: { sent } },
  }
  if (step === 6) return { kind: Kind.chat, payload: { message: `tick ${Date.now()}` } }
  if (step === 0) return { id: run, kind: Kind.reasoningStart, payload: { message: 'Looking at it.' } }
  if (step === length - 1)
    return { kind: Kind.reasoningConclusion, context: run, payload: { message: 'It is fine.' } }
  if (step === 4)
    return { kind: Kind.mcpRequest, to: ['files'], context: run, rationale: 'to know', payload: call }
  const message = `Thought ${sent}: that depends on what the report says about it.`
  return { kind: Kind.reasoningThought, context: run, payload: { message } }
}
