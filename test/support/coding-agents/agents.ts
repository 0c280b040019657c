import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'vitest'
import { needing } from '../../verifies.js'
import { type AgentName, installAgent } from './install.js'
import { serveScript } from './model.js'
import { recipes } from './recipes.js'
import type { ModelRule } from './script.js'

interface AgentOptions {
  /** Rules by which the agent's model answers. */
  readonly model: readonly ModelRule[]
  readonly home: string
  readonly cwd: string
}

/** How to start a real coding agent, in the form of a participant of `kind: acp`. */
export interface CodingAgent {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Mode to set in each session, so that the agent asks before it edits and runs commands. */
  readonly mode?: string
}

/** An unreachable proxy, because agents would look for updates, plugins and accounts on the internet. */
const offline = { HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' }

/** Installs a coding agent, and serves its model by rules, until the test is over. The agent can reach only that model. */
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

/** Wraps a test of a coding agent. It is skipped if npm cannot install the agent, or fails if MEUP_REQUIRE_ALL=1. */
export const withAgent =
  (name: AgentName, body: () => Promise<void>) =>
  async (context: TestContext): Promise<void> => {
    const command = await installAgent(name).catch((error: Error) => error)
    const why = command instanceof Error ? `: ${command.message}` : ''
    await needing(`${name} from the registry of npm${why}`, () => why === '')(body)(context)
  }
