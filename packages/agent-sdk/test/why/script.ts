import type { SpaceClient } from '@meup/agent-sdk'
import type { TestSpace } from '@meup/agent-sdk/testing'

type Draft = Parameters<SpaceClient['send']>[0]

/** An envelope, and the participant that sends it. */
export interface Line {
  readonly from: string
  readonly draft: Draft & { readonly id: string }
}

const line = (from: string, draft: Line['draft']): Line => ({ from, draft })

/** A public question to one participant. */
export const ask = (
  from: string,
  id: string,
  who: string,
  message: string,
  more: Partial<Draft> = {},
): Line => line(from, { id, kind: 'chat', payload: { message, mentions: [who] }, ...more })
export const answer = (from: string, id: string, correlationId: string, message: string): Line =>
  line(from, { id, kind: 'chat', correlationId, payload: { message } })
export const run = (from: string, id: string, correlationId: string): Line =>
  line(from, { id, kind: 'reasoning.start', correlationId })
export const think = (from: string, id: string, context: string, message: string): Line =>
  line(from, { id, kind: 'reasoning.thought', context, payload: { message } })
export const conclude = (from: string, id: string, context: string, message: string): Line =>
  line(from, { id, kind: 'reasoning.conclusion', context, payload: { message } })

export const call = (from: string, id: string, context: string, tool: string, args: object): Line => {
  const [to = '', name = ''] = tool.split('/')
  const payload = { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }
  return line(from, { id, kind: 'mcp.request', to: [to], context, payload })
}

export const result = (
  from: string,
  id: string,
  correlationId: string,
  text: string,
  isError = false,
): Line => {
  const given = { content: [{ type: 'text', text }], ...(isError && { isError }) }
  return line(from, {
    ...{ id, kind: 'mcp.response', correlationId },
    payload: { jsonrpc: '2.0', id: correlationId, result: given },
  })
}

/** Participants of all scripts. Each agent may use the tools for its work. */
export const participants = {
  ...{ ana: ['*'], ben: ['*'], lead: ['*'], eve: ['*'], files: ['*'], bank: ['*'] },
  scout: ['chat', 'reasoning.*', { kind: 'mcp.request', to: 'files' }],
  clerk: ['chat', 'reasoning.*', 'mcp.proposal', { kind: 'mcp.request', to: 'bank' }],
}

/**
 * Sends the lines of several conversations alternately, each conversation in its order. Lines that the gateway refuses are part
 * of the story. Returns the number of lines.
 */
export async function play(space: TestSpace, conversations: readonly (readonly Line[])[]): Promise<number> {
  const clients = new Map<string, SpaceClient>()
  for (const id of Object.keys(participants)) clients.set(id, await space.join(id, { unhandled: 'keep' }))
  let sent = 0
  for (let at = 0; conversations.some((lines) => at < lines.length); at++) {
    for (const lines of conversations) {
      const next = lines[at]
      if (next === undefined) continue
      sent++
      await clients
        .get(next.from)
        ?.send(next.draft)
        .catch(() => {})
    }
  }
  return sent
}
