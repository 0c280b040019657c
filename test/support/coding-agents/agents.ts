import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'vitest'
import { needing } from '../../verifies.js'
import { type AgentName, installAgent } from './install.js'
import { serveScript } from './model.js'
import { recipes } from './recipes.js'
import type { ModelRule } from './script.js'

interface AgentOptions {
  /** The answers of its model. */
  readonly model: readonly ModelRule[]
  /** A folder for what it keeps. */
  readonly home: string
  /** The folder that it works in. */
  readonly cwd: string
}

/** How a real coding agent is started, as a participant of `kind: acp` says it. */
export interface CodingAgent {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** To be set in each session, so that it asks before it edits and runs commands. */
  readonly mode?: string
}

/** A proxy that is not there: agents look for updates, plugins and accounts. */
const offline = { HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' }

/** Installs a coding agent and serves its model by rules, until the test is over. Nothing but that model is reached. */
export async function codingAgent(name: AgentName, options: AgentOptions): Promise<CodingAgent> {
  const { model, home, cwd } = options
  const { api, mode, toToolCall, start } = recipes[name]
  const command = await installAgent(name)
  const url = await serveScript(api, model, (use) =>
    toToolCall('path' in use ? { ...use, path: join(cwd, use.path) } : use),
  )
  const { args, env, files = {} } = start(url, home)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), content)
  }
  return { command, args, env: { HOME: home, ...offline, ...env }, ...(mode !== undefined && { mode }) }
}

/** A test of a coding agent, which is skipped where npm cannot install it, or fails if MEUP_REQUIRE_ALL=1. */
export const withAgent =
  (name: AgentName, body: () => Promise<void>) =>
  async (context: TestContext): Promise<void> => {
    const command = await installAgent(name).catch((error: Error) => error)
    const why = command instanceof Error ? `: ${command.message}` : ''
    await needing(`${name} from the registry of npm${why}`, () => why === '')(body)(context)
  }
