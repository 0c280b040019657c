import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { connect } from '@meup/agent-sdk'
import { Type } from '@sinclair/typebox'
import { repositoryRoot } from '../files.js'

/** A client under test. It answers "N words", and offers the tool `shout`. */
export interface RunningClient {
  /** Resolves once the client has given up reconnecting. */
  readonly ended: Promise<unknown>
  kill(): void
}

export type StartClient = (url: string) => RunningClient

/** The source of the client in `docs/write-a-client.md`. */
export function documentedClient(): string {
  const page = readFileSync(join(repositoryRoot, 'docs/write-a-client.md'), 'utf8')
  return [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text).join('\n')
}

/** Writes the documented client into a folder in which only the package `ws` is installed. */
export function installDocumented(folder: string): void {
  writeFileSync(join(folder, 'client.mjs'), documentedClient())
  const ws = createRequire(join(repositoryRoot, 'packages/gateway/package.json')).resolve('ws/package.json')
  symlinkSync(dirname(dirname(ws)), join(folder, 'node_modules'))
}

/** Starts the documented client. `random`: the fixed result of `Math.random`; absent = random. */
export function spawnDocumented(
  folder: string,
  url: string,
  token: string,
  random?: number,
): ChildProcessByStdio<null, Readable, null> {
  const prelude = random === undefined ? '' : `Math.random = () => ${random}`
  return spawn(process.execPath, ['--import', `data:text/javascript,${prelude}`, 'client.mjs'], {
    cwd: folder,
    env: { PATH: process.env.PATH, MEUP_URL: url, MEUP_SPACE: 'demo', MEUP_TOKEN: token },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

export const runDocumented =
  (folder: string, random = 0): StartClient =>
  (url) => {
    const child = spawnDocumented(folder, url, 'secret', random)
    child.stdout.resume()
    return { ended: once(child, 'exit'), kill: () => void child.kill('SIGKILL') }
  }

/** An agent of the SDK that behaves like the documented client. */
export const runAgent: StartClient = (url) => {
  const abort = new AbortController()
  const run = async (): Promise<void> => {
    const space = await connect({ url, space: 'demo', token: 'secret' })
    abort.signal.addEventListener('abort', () => space.close())
    if (abort.signal.aborted) space.close()
    // Faulty frames are part of these tests, so their errors are ignored.
    space.on('requestError', () => {})
    const input = Type.Object({ text: Type.String() })
    space.tool('shout', { input }, ({ text }) => text.toUpperCase())
    await Promise.all([
      space.subscribe({ reasoning: 'boundaries' }),
      space.answer(
        async (turn) => {
          const words = turn.text.split(/\s+/).filter(Boolean).length
          await turn.reason('Counting the words', async (run) => {
            await run.thought(`There are ${words}`)
            return 'Counted'
          })
          await turn.reply(`${words} words`)
        },
        { onError: () => {} },
      ),
    ])
  }
  return { ended: run().catch(() => {}), kill: () => abort.abort() }
}
