import { HttpClient } from '@meup/agent-sdk/http'
import { createTestSpace, type TestSpace } from '@meup/agent-sdk/testing'
import { bridgeMcpServer } from '@meup/mcp-bridge'
import { serveSpaceOverHttp } from '@meup/mcp-bridge/serve'
import type { Capability } from '@meup/protocol'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { fixtures } from './processes.js'

export const token = 'token-of-this-server'

interface Options {
  /** Capabilities of `desktop`, the participant that MCP clients act as. */
  readonly desktop?: Capability[]
  /** Additional participants, with their capabilities. */
  readonly more?: Readonly<Record<string, Capability[]>>
  readonly visibility?: 'everyone' | 'addressees'
}

/**
 * A space with the participant ana, and an MCP server over HTTP whose clients act in the space as the participant `desktop`.
 */
export async function serveSpace({ desktop = ['*'], more = {}, visibility = 'everyone' }: Options = {}) {
  const space = await createTestSpace({
    participants: { ana: ['*'], desktop, library: ['mcp.*'], ...more },
    mcp: { visibility },
  })
  onTestFinished(() => space.close())
  const ana = await space.join('ana')
  const served = {
    space: await space.join('desktop'),
    http: new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' }),
    throttleMs: 10,
  }
  const serving = await serveSpaceOverHttp(served, { port: 0, token })
  onTestFinished(() => serving.close())
  return { space, ana, served: served.space, url: serving.url }
}

/** Starts `library-server.mjs` as a participant; it is closed at the end of the test or earlier. */
export async function openLibrary(space: TestSpace) {
  const server = { name: 'library', command: process.execPath, args: [fixtures.libraryServer], env: {} }
  const bridge = await bridgeMcpServer({ ...server, connect: () => space.join('library') })
  onTestFinished(() => bridge.close())
  return bridge
}

export type Era = 'legacy' | 'auto'

/** Connects an MCP client. With `fillIn`, it supports forms, and `fillIn` answers them. */
export async function openClient(url: string, mode: Era, fillIn?: (message: string) => object) {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: fillIn ? { elicitation: { form: {} } } : {}, versionNegotiation: { mode } },
  )
  if (fillIn)
    client.setRequestHandler(
      'elicitation/create',
      ({ params }) => fillIn(params.message) as { action: 'accept' },
    )
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  onTestFinished(() => client.close())
  return client
}
