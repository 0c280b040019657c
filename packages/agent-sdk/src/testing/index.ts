import { createTestGateway, dialInMemory, type TestSpaceOptions, testToken } from '@meup/gateway/testing'
import type { Dial, DialRequest } from '../client/transport.js'
import { SpaceClient } from '../space-client.js'

export interface TestSpace extends AsyncDisposable {
  /** Enters the space as one of its participants; invited participants need their token. */
  join(
    participant: string,
    how?: Pick<DialRequest, 'token' | 'after' | 'tail' | 'epoch' | 'safety' | 'tracing' | 'transcripts'>,
  ): Promise<SpaceClient>
  /** Stops the gateway, then closes every client: none of them tries to come back. */
  close(): Promise<void>
}

/** A space in this process: a real gateway, with a log in memory and connections that need no socket. */
export async function createTestSpace(options: TestSpaceOptions): Promise<TestSpace> {
  const gateway = await createTestGateway(options)
  const dial: Dial = ({ url: _, ...request }, events) => dialInMemory(gateway, request, events)
  const where = { url: 'memory:', space: options.name ?? 'test' }
  const clients: SpaceClient[] = []
  const close = async (): Promise<void> => {
    await gateway.close()
    for (const client of clients) client.close()
  }
  return {
    async join(participant, how = {}) {
      const client = await SpaceClient.open(dial, { ...where, token: testToken(participant), ...how })
      clients.push(client)
      return client
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
