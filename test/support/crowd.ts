import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { expect, onTestFinished } from 'vitest'
import { verifiedIds } from './chain.js'

const plenty = '{ perSecond: 100000, burst: 100000 }'
const bytes = '{ perSecond: 1.0e+9, burst: 1.0e+9 }'

/** The configuration of a space for many messages. `limits`: further lines below `limits`. */
export const crowdConfig = (port = 0, limits = ''): string => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:${port}" }
limits:
  rates: { chat: ${plenty}, control: ${plenty}, bytes: ${bytes} }
  ${limits}
participants:
  ana: { kind: human, capabilities: ["*"] }
  ben: { kind: human, capabilities: ["*"] }
  reader: { kind: agent, capabilities: [] }
`

export interface Accepted {
  readonly id: string
  readonly seq?: number
}

export const tokenIn = (folder: string, id: string): string =>
  readFileSync(join(folder, '.meup/tokens', id), 'utf8').trim()

/** Connects a participant until the test is over, with the seqs of all envelopes that it received. */
export async function enterAs(folder: string, id: string, url: string) {
  const space = await SpaceClient.open(dialWs, { url, space: 'demo', token: tokenIn(folder, id) })
  onTestFinished(() => void space.close())
  const seen: number[] = []
  space.on('envelope', ({ seq }) => seq !== undefined && seen.push(seq))
  return { space, seen }
}

/** Checks that seqs are consecutive: none is missing, and none is repeated. */
export const expectNoGap = (seqs: readonly number[]): void =>
  expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index))

/** Checks the log of a gateway that has ended: each acknowledged envelope is in it once, at its seq, and the chain is valid. */
export async function expectInLog(
  folder: string,
  accepted: readonly Accepted[],
  space = 'demo',
): Promise<void> {
  const ids = await verifiedIds(join(folder, '.meup/space.db'), space)
  expect(new Set(ids).size).toBe(ids.length)
  expect(accepted.filter(({ id, seq = 0 }) => ids[seq - 1] !== id)).toEqual([])
}

/** Reads a number from the gateway's metrics; 0 if absent. */
export async function metricOf(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1] ?? 0)
}
