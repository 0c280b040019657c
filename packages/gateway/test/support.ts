import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createGateway,
  type Gateway,
  type GatewayOptions,
  memoryStore,
  type ParticipantConfig,
  type ServeOptions,
  serve,
  tokenAuthenticator,
} from '@meup/gateway'
import { type TestSpaceOptions, testSpaceConfig, testToken } from '@meup/gateway/testing'
import { SUBPROTOCOL, type WelcomePayload } from '@meup/protocol'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { Client } from './client.js'
import { withEpoch } from './http-client.js'

interface DialOptions {
  readonly space?: string
  readonly query?: string
  readonly path?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly protocols?: string[]
  readonly autoPong?: boolean
}

/** The response to a refused upgrade. */
interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
}

export interface Running {
  readonly url: string
  readonly gateway: Gateway
  /** Connects with the participant's token; resolves once the welcome has arrived. */
  connect(participant: string, options?: DialOptions): Promise<Client & { readonly welcome: WelcomePayload }>
  /** Requests a WebSocket that is refused; returns the refusal. */
  connectRequest(options: DialOptions): Promise<Answer>
  /** Connects with any token, or as a guest. */
  dial(options: DialOptions): Promise<Client & { readonly welcome: WelcomePayload }>
  post(participant: string, body: unknown): Promise<{ status: number; type: string; body: unknown }>
  close(): Promise<void>
}

export interface StartOptions
  extends TestSpaceOptions,
    Partial<Pick<GatewayOptions, 'store' | 'clock' | 'logger'>>,
    Partial<
      Pick<ServeOptions, 'origins' | 'hosts' | 'trustProxy' | 'heartbeatMs' | 'eventHeartbeatMs' | 'modules'>
    > {
  readonly rates?: Readonly<Record<string, NonNullable<ParticipantConfig['rates']>>>
  /** Participants of the kind `human`; the others are agents. */
  readonly humans?: readonly string[]
  /** Further spaces of the gateway. */
  readonly others?: readonly TestSpaceOptions[]
}

/** Serves a gateway on a free port, until the end of the test. */
export async function start(options: StartOptions): Promise<Running> {
  const {
    clock,
    logger,
    origins,
    hosts,
    trustProxy,
    heartbeatMs,
    eventHeartbeatMs,
    modules,
    rates = {},
    humans = [],
    others = [],
  } = options
  const spaces = [options, ...others].map((each) => {
    const config = testSpaceConfig(each)
    const participants = Object.entries(config.participants).map(([id, participant]) => {
      const own = rates[id]
      const kind = humans.includes(id) ? 'human' : participant.kind
      return [id, { ...participant, kind, ...(own && { rates: own }) }]
    })
    return { ...config, participants: Object.fromEntries(participants) }
  })
  const tokens = spaces.map(({ name, participants }) => [
    name,
    Object.fromEntries(Object.keys(participants).map((id) => [id, testToken(id)])),
  ])
  const gateway = await createGateway({
    spaces,
    store: options.store ?? memoryStore(),
    authenticator: tokenAuthenticator(Object.fromEntries(tokens)),
    ...(clock && { clock }),
    ...(logger && { logger }),
  })
  const served = await serve({
    gateway,
    host: '127.0.0.1',
    port: 0,
    ...(origins && { origins }),
    ...(hosts && { hosts }),
    ...(trustProxy !== undefined && { trustProxy }),
    ...(heartbeatMs !== undefined && { heartbeatMs }),
    ...(eventHeartbeatMs !== undefined && { eventHeartbeatMs }),
    ...(modules && { modules }),
    ...(logger && { logger }),
  })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= served.close()
    return closing
  }
  onTestFinished(close)
  const name = options.name ?? 'test'

  const enter = async (participant: string, dialled: DialOptions) => {
    const { token = '', query = '', space = name } = dialled
    const whole = await withEpoch(served.url, token, query, space)
    const client = await open(served.url, participant, { ...dialled, space, query: whole })
    if (!(client instanceof Client)) throw new Error(`refused: ${JSON.stringify(client)}`)
    const frame = await client.next(() => true)
    if (frame.kind !== 'system.welcome') throw new Error(`no welcome, but ${JSON.stringify(frame)}`)
    return Object.assign(client, { welcome: frame.payload as WelcomePayload })
  }

  return {
    url: served.url,
    gateway,
    connect: (participant, dialled = {}) => enter(participant, { token: testToken(participant), ...dialled }),
    dial: (dialled) => enter('somebody', dialled),
    async connectRequest(dialled) {
      const answer = await open(served.url, 'a stranger', { space: name, ...dialled })
      if (answer instanceof Client) throw new Error('a socket was opened')
      return answer
    },
    async post(participant, body) {
      const response = await fetch(`${served.url}/spaces/${name}/envelopes`, {
        method: 'POST',
        headers: { authorization: `Bearer ${testToken(participant)}` },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
      const type = response.headers.get('content-type') ?? ''
      return { status: response.status, type, body: await response.json() }
    },
    close,
  }
}

/** A path in a new empty folder, which is removed after the test. */
export function temporaryFile(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'meup-gateway-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, name)
}

function open(base: string, participant: string, options: DialOptions): Promise<Client | Answer> {
  const { space, query = '', token, headers = {}, protocols = [SUBPROTOCOL], autoPong = true } = options
  const path = options.path ?? `/spaces/${space}/ws${query && `?${query}`}`
  const ws = new WebSocket(base.replace('http', 'ws') + path, protocols, {
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    perMessageDeflate: false,
    autoPong,
  })
  const client = new Client(participant, ws)
  onTestFinished(() => ws.terminate())
  return new Promise((resolve, reject) => {
    ws.on('open', () => resolve(client))
    ws.on('error', reject)
    ws.on('unexpected-response', (_, response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
      })
    })
  })
}
