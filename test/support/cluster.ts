import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Dial, dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { ProtocolError } from '@meup/protocol'
import { onTestFinished } from 'vitest'
import { startMeup, temporaryFolder } from './cli.js'

const plenty = '{ perSecond: 100000, burst: 100000 }'
const people = ['ana', 'bob', 'reader']
export const tokenOf = (id: string): string => `token-of-${id}-0123456789`

const config = (servers: readonly string[], replicas: number, host: string) => `
version: 1
space: demo
gateway: { listen: "${host}:0" }
storage: { kind: jetstream, servers: ${JSON.stringify(servers)}, replicas: ${replicas} }
limits: { rates: { chat: ${plenty}, control: ${plenty}, reasoning: ${plenty}, bytes: { perSecond: 1.0e+9, burst: 1.0e+9 } } }
participants:
  ana: { kind: human, capabilities: ["*"] }
  bob: { kind: agent, capabilities: [chat, "reasoning.*"] }
  reader: { kind: agent, capabilities: [] }
`

/** Starts a gateway for the space `demo`, which has its log on these NATS servers, and the tokens of `tokenOf`. */
export async function startSharing(
  servers: readonly string[],
  replicas: number,
  { host = '127.0.0.1', through = [] }: { readonly host?: string; readonly through?: readonly string[] } = {},
) {
  const folder = temporaryFolder({ 'space.yaml': config(servers, replicas, host) })
  mkdirSync(join(folder, '.meup/tokens'), { recursive: true, mode: 0o700 })
  for (const id of people) writeFileSync(join(folder, '.meup/tokens', id), tokenOf(id), { mode: 0o600 })
  return { folder, ...(await startMeup('gateway', folder, [], through)) }
}

/** Connects a participant to the space, until the test ends. */
export async function seat(url: string, id: string): Promise<SpaceClient> {
  const space = await SpaceClient.open(dialWs, { url, space: 'demo', token: tokenOf(id) })
  onTestFinished(() => space.close())
  return space
}

/** Connects a participant from the beginning of the log, and records the frames that it gets, as text. */
export async function wireOf(url: string, id: string, dial: Dial = dialWs) {
  const frames: string[] = []
  const others: string[] = []
  const message = (text: string) => (text.startsWith('{"seq":') ? frames : others).push(text)
  const line = await dial({ url, space: 'demo', token: tokenOf(id), after: 0 }, { message, close: () => {} })
  onTestFinished(() => line.close(1000, ''))
  return { frames, others, line }
}

/** Sends an envelope again and again, until it is in the log. */
export async function retry(space: SpaceClient, envelope: { id: string; kind: string; payload: object }) {
  for (;;) {
    try {
      return await space.send(envelope)
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== 'unavailable') throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
