import type { Draft, SpaceClient } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { AnyEnvelope } from '@meup/protocol'
import {
  byId,
  type EnvelopeRecorder,
  recordEnvelopes,
} from '../../packages/agent-sdk/test/support/record-envelopes.js'

/** An envelope as ADR-T8K writes it, with its sender. */
export type Example = Draft & { readonly from: string }

export interface Stage extends AsyncDisposable {
  /** Records the envelopes that an observer receives. */
  readonly heard: EnvelopeRecorder
  seat(name: string): SpaceClient
  /** Connects the observer once more, as a reader that joins late and reads the log from its start. */
  latecomer(): Promise<SpaceClient>
  /** Sends envelopes, each as the participant that it names. Resolves when the observer has received the last one. */
  play(...examples: readonly Example[]): Promise<AnyEnvelope[]>
}

/** Opens a space in which every sender of the examples may do everything. */
export async function stage(...names: readonly string[]): Promise<Stage> {
  const participants = Object.fromEntries([...names, 'observer'].map((name) => [name, ['*']]))
  const space = await createTestSpace({ participants })
  const heard = recordEnvelopes(await space.join('observer'))
  const seats = new Map<string, SpaceClient>()
  for (const name of names) seats.set(name, await space.join(name))
  const seat = (name: string): SpaceClient => {
    const found = seats.get(name)
    if (found === undefined) throw new Error(`${name} is not on stage`)
    return found
  }
  return {
    heard,
    seat,
    latecomer: () => space.join('observer', { after: 0 }),
    async play(...examples) {
      const echoes = []
      for (const { from, ...draft } of examples) echoes.push(await seat(from).send(draft))
      await heard.until(byId(echoes.at(-1)?.id ?? ''))
      return echoes
    },
    [Symbol.asyncDispose]: () => space.close(),
  }
}

const said = (kind: string, from: string, message: string, more: object = {}): Example => ({
  kind,
  from,
  ...more,
  payload: { message },
})
export const chat = (from: string, message: string, more?: object) => said('chat', from, message, more)
export const start = (from: string, message: string, more?: object) =>
  said('reasoning.start', from, message, more)
export const thought = (from: string, message: string, more: object) =>
  said('reasoning.thought', from, message, more)
export const conclusion = (from: string, message: string, more: object) =>
  said('reasoning.conclusion', from, message, more)
export const request = (from: string, name: string, more: object, args?: object): Example => ({
  kind: 'mcp.request',
  from,
  ...more,
  payload: { method: 'tools/call', params: { name, ...(args && { arguments: args }) } },
})
