import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DialRequest } from '@meup/agent-sdk/internal'
import { onTestFinished } from 'vitest'

/** A fake gateway with these responses; if `answer` returns `undefined`, the request stays unanswered. */
export async function answering(
  answer: (url: URL) => { readonly status?: number; readonly body: unknown } | undefined,
): Promise<DialRequest> {
  const server = createServer(({ url = '' }, response) => {
    const answered = answer(new URL(url, 'http://gateway'))
    if (answered === undefined) return
    response.writeHead(answered.status ?? 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answered.body))
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, space: 'demo', token: 'x' }
}
