import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Dialect, fullPipeline, meup, relay, socketIo } from '../load/dialects.js'
import { atExit, type ServerProcess, startServer } from './process.js'
import { type SpaceOptions, type Storage, tokenOf, writeSpace } from './space.js'

/** Numbers and kinds of participants for a measurement. */
export type Seats = Omit<SpaceOptions, 'storage'>

/** A server that is compared with others. */
export interface Contender {
  readonly key: string
  readonly name: string
  readonly dialect: Dialect | 'nats'
  start(seats: Seats, options?: StartOptions): Promise<Running>
}

export interface StartOptions {
  /** Called with the folder of a gateway before it starts. */
  readonly prepare?: (folder: string) => Promise<void>
  /** Options of Node.js, before the program. */
  readonly nodeArgs?: readonly string[]
}

export interface Running extends ServerProcess {
  readonly dialect: Dialect | 'nats'
  /** Folder with the server's files; empty = none. */
  readonly folder: string
  tokenOf(participant: string): string
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

function script(key: string, name: string, dialect: Dialect, file: string): Contender {
  const start: Contender['start'] = async (_seats, { nodeArgs = [] } = {}) =>
    running(await startScript(file, nodeArgs), dialect)
  return { key, name, dialect, start }
}

export function startScript(
  file: string,
  nodeArgs: readonly string[],
  scriptArgs: readonly string[] = [],
): Promise<ServerProcess> {
  const args = ['--import', 'tsx', ...nodeArgs, here(file), ...scriptArgs]
  const portOf = (line: string): number => (JSON.parse(line) as { port: number }).port
  return startServer({ command: process.execPath, args, cwd: here('..'), portOf })
}

const wsFull: Contender = {
  key: 'e',
  name: 'ws, bare pipeline',
  dialect: fullPipeline,
  async start({ senders, receivers }, { nodeArgs = [] } = {}) {
    const { folder, remove } = temporaryFolder()
    const args = [join(folder, 'envelopes.db'), `${senders}`, `${receivers}`]
    const server = await startScript('ws-full.ts', nodeArgs, args)
    return running(removedAtStop(server, remove), fullPipeline, folder)
  },
}

export function temporaryFolder(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'meup-bench-'))
  const clear = (): void => rmSync(folder, { recursive: true, force: true })
  atExit.add(clear)
  const remove = (): void => {
    clear()
    atExit.delete(clear)
  }
  return { folder, remove }
}

const removedAtStop = (server: ServerProcess, remove: () => void): ServerProcess => ({
  ...server,
  stop: async () => {
    await server.stop()
    remove()
  },
})

const running = (server: ServerProcess, dialect: Dialect | 'nats', folder = ''): Running => ({
  ...server,
  dialect,
  folder,
  tokenOf,
})

const natsServer: Contender = {
  key: 'd',
  name: 'nats-server core',
  dialect: 'nats',
  async start() {
    const port = await freePort()
    const args = ['-a', '127.0.0.1', '-p', `${port}`]
    const server = await startServer({ command: 'nats-server', args, port })
    await untilListening(port)
    return running(server, 'nats')
  },
}

/**
 * Starts `meup gateway` in a folder with space.yaml. `program`: arguments of Node.js up to the program; default: the bundled
 * one.
 */
export function startGateway(
  folder: string,
  program: readonly string[] = [here('../../packages/cli/bin/meup.js')],
): Promise<ServerProcess> {
  const args = [...program, 'gateway', '--json']
  const portOf = (line: string): number => Number(new URL((JSON.parse(line) as { url: string }).url).port)
  return startServer({ command: process.execPath, args, cwd: folder, portOf })
}

/** The contender `meup gateway` with its configuration in a file, as an operator runs it. */
function gateway(key: string, name: string, storage: Storage): Contender {
  return {
    ...{ key, name, dialect: meup },
    async start(seats, { nodeArgs = [], prepare } = {}) {
      const { folder, remove } = temporaryFolder()
      writeSpace(folder, { ...seats, storage })
      await prepare?.(folder)
      // Uses the build with one file per module, so that a profile shows the modules.
      const server = await startGateway(folder, [...nodeArgs, here('../../packages/cli/dist/main.js')])
      return running(removedAtStop(server, remove), meup, folder)
    },
  }
}

const contenders: readonly Contender[] = [
  script('a', 'ws, send per client', relay, 'relay.ts'),
  script('b', 'ws, framed once, batched', relay, 'relay-batched.ts'),
  script('c', 'Socket.IO rooms', socketIo, 'socket-io.ts'),
  natsServer,
  wsFull,
  gateway('sqlite', 'MEUP, sqlite', { kind: 'sqlite', durability: 'process' }),
  gateway('power', 'MEUP, sqlite, power', { kind: 'sqlite', durability: 'power' }),
  gateway('memory', 'MEUP, memory', { kind: 'memory' }),
]

/** Returns the named contenders; all if none are named. `ours`: the gateway with each of its stores. */
export function chosen(keys: readonly string[] = []): Contender[] {
  const wanted = new Set(keys.flatMap((key) => (key === 'ours' ? ['sqlite', 'power', 'memory'] : [key])))
  const unknown = [...wanted].filter((key) => !contenders.some((each) => each.key === key))
  if (unknown.length > 0) {
    const known = contenders.map(({ key }) => key).join(', ')
    throw new Error(`there is no ${unknown.join(', ')}; there are ${known}, and ours for the last three`)
  }
  return contenders.filter(({ key }) => wanted.size === 0 || wanted.has(key))
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function untilListening(port: number): Promise<void> {
  const { connect } = await import('node:net')
  for (let tries = 0; tries < 100; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.once('data', () => socket.destroy())
    })
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing listens on ${port}`)
}
