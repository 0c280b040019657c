import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from './free-port.js'
import { findProgram } from './programs.js'

/** Path of nats-server on this machine; `undefined` = not installed. */
export const natsServer = (): string | undefined => process.env.NATS_SERVER_BIN ?? findProgram('nats-server')

interface NatsOptions {
  /** Number of nodes: 1, or 3 for a cluster. */
  readonly nodes?: number
  /** Host of the addresses for clients; default 127.0.0.1. */
  readonly host?: string
  /** Further lines for each node's configuration. */
  readonly more?: string
  /** Whether JetStream is on; default `true`. Only a single node can be without it. */
  readonly jetstream?: boolean
}

type ServerOptions = Pick<NatsOptions, 'host' | 'jetstream'>

interface Ports {
  readonly nats: readonly string[]
  readonly monitoring: readonly string[]
}

const deadlineMs = 30_000

/** A server with its own disk, which can be killed and restarted at the same address. */
class NatsNode {
  readonly name: string
  readonly #folder: string
  readonly #cluster: string
  readonly #host: string
  readonly #jetstream: boolean
  #ports: Ports | undefined
  #process: ChildProcess | undefined

  constructor(name: string, folder: string, cluster: string, { host, jetstream }: Required<ServerOptions>) {
    this.name = name
    this.#host = host
    this.#jetstream = jetstream
    this.#folder = folder
    this.#cluster = cluster
  }

  get url(): string {
    return this.#ports?.nats[0] ?? ''
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  /** Starts the server. `jetstream`: overrides the option for this start. */
  async start(jetstream = this.#jetstream): Promise<void> {
    const folder = this.#folder
    mkdirSync(folder, { recursive: true })
    const portOf = (urls: readonly string[] | undefined): string => (urls?.[0] ? new URL(urls[0]).port : '-1')
    const config = join(folder, 'nats.conf')
    writeFileSync(
      config,
      `server_name: ${this.name}
listen: "${this.#host}:${portOf(this.#ports?.nats)}"
http: "127.0.0.1:${portOf(this.#ports?.monitoring)}"
ports_file_dir: "${folder}"
${jetstream ? `jetstream { store_dir: "${folder}/store", max_mem: 64M, max_file: 2G }` : ''}
${this.#cluster}
`,
    )
    const child = spawn(natsServer() ?? 'nats-server', ['-c', config], { stdio: 'ignore' })
    this.#process = child
    const file = join(folder, `nats-server_${child.pid}.ports`)
    this.#ports = await until(`${this.name} listens`, () => {
      if (child.exitCode !== null) throw new Error(`${this.name} ended: see ${config}`)
      return existsSync(file) ? parsed(readFileSync(file, 'utf8')) : undefined
    })
  }

  /** Ends the server. Resolves when it has ended. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal)
  }

  /** All bytes in the server's storage, as text. */
  get bytes(): string {
    const files = readdirSync(join(this.#folder, 'store'), { recursive: true, withFileTypes: true })
    return files
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
      .join()
  }

  /** Requests a path of the server's monitoring endpoint; `undefined` = no answer. */
  async ask(path: string): Promise<unknown> {
    try {
      return await (await fetch(`${this.#ports?.monitoring[0] ?? ''}${path}`)).json()
    } catch {
      return undefined
    }
  }
}

/** The NATS servers of a test. */
export interface Nats {
  readonly nodes: readonly NatsNode[]
  readonly servers: readonly string[]
  /** Returns the node that leads this stream. */
  leaderOf(stream: string): Promise<NatsNode>
  /** Ends all servers, and removes their storage. */
  stop(): Promise<void>
}

/** Starts servers on free ports, and waits until JetStream works. */
export async function startNats({
  nodes: count = 1,
  more = '',
  host = '127.0.0.1',
  jetstream = true,
}: NatsOptions = {}): Promise<Nats> {
  const folder = mkdtempSync(join(tmpdir(), 'meup-nats-'))
  const routes = await Promise.all(Array.from({ length: count > 1 ? count : 0 }, freePort))
  const urls = routes.map((port) => `"nats://127.0.0.1:${port}"`).join(', ')
  const nodes = Array.from({ length: count }, (_, i) => {
    const cluster = `cluster { name: test, listen: "127.0.0.1:${routes[i]}", routes: [${urls}] }`
    const lines = `${count > 1 ? cluster : ''}\n${more}`
    return new NatsNode(`n${i + 1}`, join(folder, `n${i + 1}`), lines, { host, jetstream })
  })
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.end()))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await Promise.all(nodes.map((node) => node.start()))
    if (count > 1) await until('the cluster has a leader', () => hasLeader(nodes))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    nodes,
    servers: nodes.map(({ url }) => url),
    leaderOf: (stream) => until(`${stream} has a leader`, () => leaderOf(stream, nodes)),
    stop,
  }
}

interface Jsz {
  readonly meta_cluster?: { readonly leader?: string; readonly cluster_size?: number }
  readonly account_details?: readonly {
    readonly stream_detail?: readonly {
      readonly name: string
      readonly cluster?: { readonly leader?: string }
    }[]
  }[]
}

async function hasLeader(nodes: readonly NatsNode[]): Promise<true | undefined> {
  for (const node of nodes) {
    const { meta_cluster: meta } = ((await node.ask('/jsz')) ?? {}) as Jsz
    if (!meta?.leader || meta.cluster_size !== nodes.length) return undefined
  }
  return true
}

/** Finds the leader of a stream. Believes only the leader itself, because other nodes learn about an election later. */
async function leaderOf(stream: string, nodes: readonly NatsNode[]): Promise<NatsNode | undefined> {
  for (const node of nodes) {
    const { account_details: accounts = [] } = ((await node.ask('/jsz?accounts=true&streams=true')) ??
      {}) as Jsz
    const details = accounts.flatMap(({ stream_detail: streams = [] }) => streams)
    if (details.some(({ name, cluster }) => name === stream && cluster?.leader === node.name)) return node
  }
  return undefined
}

/** Polls until `look` returns a value. */
async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const end = performance.now() + deadlineMs
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms: ${what}`)
    await pause(10)
  }
}

function parsed(text: string): Ports | undefined {
  try {
    return JSON.parse(text) as Ports
  } catch {
    return undefined // It is being written.
  }
}
