import {
  createTestGateway,
  dialInMemory,
  fetchInMemory,
  type TestSpaceOptions,
  testToken,
} from '@meup/gateway/testing'
import { leadNextConnect } from '../adapters/entrance.js'
import type { Dial, DialRequest } from '../client/transport.js'
import { SpaceClient } from '../space-client.js'

export interface TestSpace extends AsyncDisposable {
  /** Connects as a configured participant; an invited participant needs its token. */
  join(
    participant: string,
    how?: Pick<
      DialRequest,
      | 'token'
      | 'after'
      | 'tail'
      | 'epoch'
      | 'safety'
      | 'tracing'
      | 'transcripts'
      | 'unhandled'
      | 'reconnect'
      | 'onReconnecting'
      | 'session'
      | 'fetch'
    >,
  ): Promise<SpaceClient>
  /**
   * Runs a program that calls `connect()` itself, such as `() => import('./agent.js')`. If that call names no gateway, it
   * connects to this space as the participant. Resolves when it has connected; rejects if the program ends before. Node runs a
   * module only once per process.
   */
  run(participant: string, program: () => Promise<unknown>): Promise<void>
  /** Stops the gateway, then closes every client, so that none tries to reconnect. */
  close(): Promise<void>
}

/**
 * Creates a space in this process: a real gateway, with a log in memory and connections without sockets. Rates and `agentHops`
 * are not limited unless given.
 */
export async function createTestSpace(options: TestSpaceOptions): Promise<TestSpace> {
  const limits = { agentHops: 1_000_000, ...options.limits }
  const gateway = await createTestGateway({ ...options, limits })
  const dial: Dial = ({ url: _, ...request }, events) => dialInMemory(gateway, request, events)
  const where = { url: 'http://memory', space: options.name ?? 'test', fetch: fetchInMemory(gateway) }
  const clients: SpaceClient[] = []
  const close = async (): Promise<void> => {
    await gateway.close()
    for (const client of clients) client.close()
  }
  const join: TestSpace['join'] = async (participant, how = {}) => {
    const client = await SpaceClient.open(dial, { ...where, token: testToken(participant), ...how })
    clients.push(client)
    return client
  }
  return {
    join,
    run: (participant, program) =>
      new Promise((resolve, reject) => {
        const forget = leadNextConnect(async () => {
          const client = await join(participant)
          resolve()
          return client
        })
        const ended = new Error(`the program of ${participant} ended before it was in the space`)
        program()
          .then(() => reject(ended), reject)
          .finally(forget)
      }),
    close,
    [Symbol.asyncDispose]: close,
  }
}
