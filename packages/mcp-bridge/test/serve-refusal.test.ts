import { HttpClient } from '@meup/agent-sdk/http'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { serveSpaceOverHttp } from '@meup/mcp-bridge/serve'
import { fillIn } from '@meup/protocol'
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport as FirstHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import { serveTexts } from '../src/serve/errors.js'

const info = { name: 'test', version: '1' }

/** An OAuth provider without tokens, like that of a client with a user interface. */
const authProvider: OAuthClientProvider = {
  redirectUrl: 'http://127.0.0.1/callback',
  clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'] },
  clientInformation: () => undefined,
  saveClientInformation: () => {},
  tokens: () => undefined,
  saveTokens: () => {},
  redirectToAuthorization: () => {},
  saveCodeVerifier: () => {},
  codeVerifier: () => 'verifier',
}

type Options = { readonly authProvider?: OAuthClientProvider }
const clients: Record<string, (url: URL, options: Options) => Promise<void>> = {
  'first SDK': (url, options) => {
    const transport = new FirstHttp(url, options as ConstructorParameters<typeof FirstHttp>[1])
    return new FirstClient(info).connect(transport as Parameters<FirstClient['connect']>[0])
  },
  'second SDK': (url, options) => new Client(info).connect(new StreamableHTTPClientTransport(url, options)),
}

async function serve(): Promise<URL> {
  const space = await createTestSpace({ participants: { desktop: ['*'] } })
  onTestFinished(() => space.close())
  const served = {
    space: await space.join('desktop'),
    http: new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' }),
  }
  const serving = await serveSpaceOverHttp(served, { port: 0, token: 'the token of this server' })
  onTestFinished(() => serving.close())
  return new URL(serving.url)
}

test.for(['/mcp', '/sse'])(
  'a client of the older HTTP+SSE is told which transport there is: %s',
  async (path) => {
    const url = new URL(path, await serve())
    const authorization = 'Bearer the token of this server'
    const response = await fetch(url, { headers: { accept: 'text/event-stream', authorization } })
    expect(response.status).toBe(405)
    const message = fillIn(serveTexts.older_transport, { path: '/mcp' })
    expect(await response.json()).toMatchObject({ error: { code: -32000, message } })
    const transport = new SSEClientTransport(url)
    await expect(
      new FirstClient(info).connect(transport as Parameters<FirstClient['connect']>[0]),
    ).rejects.toThrow(/405/)
  },
)

test.for(Object.entries(clients))('a client without the token says what to send: %s', async ([, connect]) => {
  const url = await serve()
  await expect(connect(url, {})).rejects.toThrow(serveTexts.wrong_token)
  await expect(connect(url, { authProvider })).rejects.toThrow(serveTexts.wrong_token)
})
