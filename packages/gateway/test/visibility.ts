import type { Capability, Envelope } from '@meup/protocol'
import type { Client, Sent } from './client.js'
import { bearer, openEvents } from './http-client.js'
import { type StartOptions, start } from './support.js'

const agent: Capability[] = ['chat', 'reasoning.*', 'mcp.*']
export const participants: Record<string, Capability[]> = {
  agent,
  helper: agent,
  tool: agent,
  ana: ['*'],
  ben: ['chat', 'mcp.*', 'reasoning.*'],
  auditor: ['observe.targeted'],
}

/** An envelope that hides or shows a run. */
export const show = (context: string, reasoningVisible: boolean): Sent => ({
  kind: 'observe.visibility',
  payload: { context, reasoningVisible },
})
export const begin = (id: string, context?: string): Sent => ({
  id,
  kind: 'reasoning.start',
  ...(context && { context }),
  payload: { message: `start of ${id}` },
})
export const thought = (id: string, context = 'run', more: Sent = {}): Sent => ({
  id,
  kind: 'reasoning.thought',
  context,
  payload: { message: `thought ${id}` },
  ...more,
})
export const conclude = (context = 'run', id?: string): Sent => ({
  ...(id && { id }),
  kind: 'reasoning.conclusion',
  context,
  payload: { message: 'so it is' },
})
export const chat = (id: string, message = 'hello'): Sent => ({ id, kind: 'chat', payload: { message } })

/** Ids of reasoning that neither opens nor closes a context. */
export const thoughts = (frames: readonly Envelope[]): string[] =>
  frames
    .filter(({ kind }) => kind.startsWith('reasoning.') && !/start|conclusion|cancel$/.test(kind))
    .map(({ id }) => id)

/** A space with an open run of `agent`, and readers over sockets and an event stream. */
export async function onlookers(options: Partial<StartOptions> = {}) {
  const running = await start({ participants, ...options })
  const { connect, url } = running
  const [by, ana, ben, auditor] = [
    await connect('agent'),
    await connect('ana'),
    await connect('ben'),
    await connect('auditor'),
  ]
  const events = await openEvents(`${url}/spaces/test/events`, bearer('ben'))
  await by.accepted(begin('run'))
  const seen = async (id: string) => {
    const sockets = await Promise.all([ana, ben, auditor].map((client) => upTo(client, id)))
    return [...sockets, (await events.envelopesUntil(id)) as Envelope[]]
  }
  return {
    ...running,
    by,
    ana,
    ben,
    auditor,
    /** New envelopes of each reader, up to the one with this id. */
    seen,
    /** The ids of the thoughts among these envelopes. */
    thoughtsSeen: async (id: string) => (await seen(id)).map(thoughts),
  }
}

const upTo = (client: Client, id: string): Promise<Envelope[]> => client.until((frame) => frame.id === id)

/** The value of a metric of the space `test`. */
export async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name}\\{space="test"\\} (\\S+)$`, 'm').exec(text)?.[1])
}
