import type { GatewayOptions, LogStore } from '@meup/gateway'
import { createTestGateway, FakeClock, type TestSpaceOptions, testToken } from '@meup/gateway/testing'
import { onTestFinished } from 'vitest'
import { createHttpApp } from '../src/http/app.js'
import type { HttpOptions } from '../src/http/route.js'
import { silent } from '../src/ports/logger.js'
import type { Stand } from './notifications.js'

type StandOptions = TestSpaceOptions & Partial<Pick<GatewayOptions, 'clock' | 'logger'>>

/** A gateway on a store, with requests that need no sockets. Closed at the end of the test. */
export async function standOn(store: LogStore, options: StandOptions): Promise<Stand> {
  const { clock = new FakeClock(Date.UTC(2026, 5, 1)), logger = silent } = options
  const gateway = await createTestGateway({ ...options, store, clock })
  onTestFinished(() => gateway.close())
  const nothing = (): void => {}
  const over: (() => void)[] = []
  const app = createHttpApp({
    gateway: gateway as unknown as HttpOptions['gateway'],
    logger,
    origins: [],
    eventHeartbeatMs: 1e6,
    metrics: async () => ({ text: '', type: '' }),
    getRemoteAddress: () => 'here',
    over: (_, then) => over.push(then),
    standing: nothing,
    onAuthenticated: nothing,
    hangUp: nothing,
  })
  return {
    gateway,
    get: async (reader, path, headers = {}) => {
      const authorization = `Bearer ${testToken(reader)}`
      const answer = await app.request(`/spaces/test${path}`, { headers: { authorization, ...headers } })
      if (path.startsWith('/events')) return answer
      const text = await answer.text()
      for (const then of over.splice(0)) then()
      return new Response(text, answer)
    },
  }
}

interface Page {
  readonly next?: number
}

/** All pages of a view, each as the gateway answered it. `path` has a query, because `&before=` is added to it. */
export async function pagesOf<Told extends Page>(
  { get }: Pick<Stand, 'get'>,
  reader: string,
  path: string,
): Promise<Told[]> {
  const pages: Told[] = []
  for (let place = ''; ; ) {
    const answer = await get(reader, `${path}${place}`)
    const page = (await answer.json()) as Told
    if (!answer.ok) throw new Error(`${path}${place}: ${JSON.stringify(page)}`)
    pages.push(page)
    if (page.next === undefined) return pages
    place = `&before=${page.next}`
  }
}
