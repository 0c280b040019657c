import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect, readEnvironment } from '@meup/agent-sdk'
import { exchangeLink, HttpClient, type HttpClientOptions, listSpaces } from '@meup/agent-sdk/http'
import { testToken } from '@meup/gateway/testing'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { snippetsOf } from '../../../test/support/snippets.js'
import { type Standing, standing } from './support/standing.js'

let gateway: Standing
beforeAll(async () => {
  gateway = await standing({ participants: { ana: ['*'], bot: ['chat', 'reasoning.*'] } })
  await using bot = await connect(makeTarget('bot'))
  await using ana = await connect(makeTarget('ana'))
  for (const message of ['one', 'two', 'three']) await ana.chat(message)
  await bot.reason('Looking')
})
afterAll(() => gateway.stop())

const makeTarget = (id: string) => ({ url: gateway.url, space: 'test', token: testToken(id) })
const ana = (options?: HttpClientOptions) => new HttpClient(makeTarget('ana'), options)

/** A client of an HTTP server with this listener in place of a gateway. */
async function answering(listener: RequestListener, options?: HttpClientOptions): Promise<HttpClient> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return new HttpClient({ url: `http://127.0.0.1:${port}`, space: 'my space' }, options)
}

const messages = async (http: HttpClient, query: Parameters<HttpClient['readLog']>[0]) => {
  const found: unknown[] = []
  for await (const { payload } of http.readLog({ kind: 'chat', ...query }))
    found.push((payload as { message: string }).message)
  return found
}

describe('the log', () => {
  test('is read page by page, in both directions', async () => {
    expect(await messages(ana(), { limit: 2 })).toEqual(['one', 'two', 'three'])
    expect(await messages(ana(), { limit: 2, order: 'desc' })).toEqual(['three', 'two', 'one'])
  })

  test('is read within its bounds on every page', async () => {
    const { head } = await ana().readLogPage({ limit: 1 })
    const seqs: unknown[] = []
    for await (const { seq } of ana().readLog({ after: 1, before: head, limit: 1 })) seqs.push(seq)
    expect([seqs[0], seqs.at(-1)]).toEqual([2, head - 1])
  })

  test('ends where it ended at the first page', async () => {
    const asked: string[] = []
    const http = await answering(({ url = '' }, response) => {
      asked.push(url)
      const page = { envelopes: [], epoch: 'e', head: asked.length * 10 }
      response.end(JSON.stringify(asked.length < 3 ? { ...page, next: asked.length } : page))
    })
    for await (const _ of http.readLogPages({ kind: ['chat', 'mcp.request'] })) {
      // The pages are not used: only the requested paths are checked.
    }
    const path = '/spaces/my%20space/envelopes?limit=1000&kind=chat%2Cmcp.request'
    expect(asked).toEqual([path, `${path}&after=1&before=11`, `${path}&after=2&before=11`])
  })
})

describe('views', () => {
  test('participants, contexts, turns and audit are read', async () => {
    const http = ana()
    const { participants } = await http.readParticipants()
    expect(participants.map(({ id }) => id)).toEqual(['ana', 'bot'])
    const { contexts } = await http.readContexts()
    expect(contexts).toMatchObject([{ owner: 'bot', children: [] }])
    expect(await http.readContext(contexts[0]?.context ?? '')).toEqual(contexts[0])
    expect(await http.readTurnPage('bot')).toMatchObject({ thread_id: 'test/bot', turns: [] })
    expect((await http.readAuditPages({ thread: 'bot', limit: 1 }).next()).value).toHaveProperty('steps')
  })

  test('a search goes on where a page ended', async () => {
    const asked: string[] = []
    const http = await answering(({ url = '' }, response) => {
      asked.push(url)
      const page = { hits: [], searched_to: null, has_more: asked.length < 2 }
      response.end(JSON.stringify(asked.length < 2 ? { ...page, next: 7 } : page))
    })
    for await (const { hits } of http.search({ text: 'a b', kind: ['chat', 'x.y'] })) expect(hits).toEqual([])
    const path = '/spaces/my%20space/search?text=a+b&kind=chat%2Cx.y'
    expect(asked).toEqual([path, `${path}&before=7`])
  })

  test('an export is whole although its reader begins later', async () => {
    const http = await answering((_, response) => {
      response.write('one\n')
      setImmediate(() => response.end('two\n'))
    })
    const chunks = await http.openExport()
    // Collects garbage: Node cancels the body of a response that was garbage-collected, unless a reader has locked it.
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    for (let round = 0; round < 20; round++) {
      collect()
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await text(chunks)).toBe('one\ntwo\n')
  })

  test('an export is what the gateway verifies', async () => {
    const { ok, head } = await ana().verifyLog()
    expect(ok).toBe(true)
    const lines = (await text(await ana().openExport())).trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(head)
  })

  test('turns are read newest first', async () => {
    const http = await answering(({ url = '' }, response) => {
      const isFirst = !url.includes('before')
      const turns = (isFirst ? [3, 4] : [1, 2]).map((turn_number) => ({ turn_number }))
      response.end(JSON.stringify({ turns, ...(isFirst && { next: 3 }) }))
    })
    const numbers: number[] = []
    for await (const { turn_number } of http.readTurns('bot')) numbers.push(turn_number)
    expect(numbers).toEqual([4, 3, 2, 1])
  })
})

test('a link is exchanged for the token that made it', async () => {
  const { code } = await ana().createLink()
  expect(await exchangeLink(gateway.url, code)).toEqual({
    space: 'test',
    participant: 'ana',
    token: testToken('ana'),
  })
  expect(await listSpaces(gateway.url, testToken('ana'))).toEqual(['test'])
})

describe('a request fails with', () => {
  test('the code of the gateway', async () => {
    const error = { name: 'ProtocolError', code: 'unauthorized' }
    await expect(
      new HttpClient({ ...makeTarget('ana'), token: 'wrong' }).readLogPage(),
    ).rejects.toMatchObject(error)
    await expect(ana().readContext('a/b')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('unreachable where no gateway answers', async () => {
    const away = new HttpClient({ url: 'ws://127.0.0.1:1', space: 'test' })
    await expect(away.readLogPage()).rejects.toMatchObject({ name: 'ConnectionError', code: 'unreachable' })
    const other = await answering((_, response) => response.writeHead(502).end('<html>'))
    await expect(other.readLogPage()).rejects.toMatchObject({ code: 'unreachable' })
  })

  test('not_configured where the address is none', async () => {
    const http = new HttpClient({ url: 'somewhere', space: 'test' })
    await expect(http.readLogPage()).rejects.toMatchObject({ code: 'not_configured' })
  })

  test('timeout where the answer takes too long, aborted where nobody wants it', async () => {
    const http = await answering(() => {}, { timeoutMs: 20 })
    await expect(http.readLogPage()).rejects.toMatchObject({ code: 'timeout' })
    const stop = new AbortController()
    const reading = http.readLogPage({}, { signal: stop.signal, timeoutMs: Number.POSITIVE_INFINITY })
    stop.abort()
    await expect(reading).rejects.toMatchObject({ code: 'aborted' })
  })

  test('closed where an export breaks off', async () => {
    const http = await answering((_, response) => {
      response.write('{"format"')
      setTimeout(() => response.destroy(), 50)
    })
    await expect(text(await http.openExport())).rejects.toMatchObject({ code: 'closed' })
  })
})

test('a request for JSON is repeated as its owner wants', async () => {
  let answers = 0
  const refuse: RequestListener = (_, response) => {
    if (answers++ === 0) response.writeHead(503).end(JSON.stringify({ code: 'unavailable', detail: 'later' }))
    else response.end(JSON.stringify({ contexts: [] }))
  }
  const http = await answering(refuse, { retry: (send) => send().catch(() => send()) })
  expect(await http.readContexts()).toEqual({ contexts: [] })
})

test('the program of docs/http.md prints the messages', async () => {
  const snippet = snippetsOf('docs/http.md').find(({ language }) => language === 'ts')
  vi.stubEnv('MEUP_URL', gateway.url)
  vi.stubEnv('MEUP_SPACE', 'test')
  vi.stubEnv('MEUP_TOKEN', testToken('ana'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const printed: unknown[] = []
  const [imports, program = ''] = snippet?.text.split('\n\n') ?? []
  expect(imports).toContain("import { HttpClient } from '@meup/agent-sdk/http'")
  const run = new Function('HttpClient', 'readEnvironment', 'console', `return (async () => {${program}})()`)
  await run(HttpClient, readEnvironment, { log: (...line: unknown[]) => printed.push(line) })
  expect(printed).toEqual([
    ['ana', 'one'],
    ['ana', 'two'],
    ['ana', 'three'],
  ])
})
