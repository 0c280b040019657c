import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { repositoryRoot } from '../files.js'

const run = promisify(execFile)

/** Coding agents that are tested with: the package, its exact version, and the program in it that speaks ACP. */
const packages = {
  opencode: { name: 'opencode-ai', version: '1.18.33', program: 'opencode' },
  gemini: { name: '@google/gemini-cli', version: '0.61.0', program: 'gemini' },
  codex: { name: '@agentclientprotocol/codex-acp', version: '2.6.0', program: 'codex-acp' },
  claude: { name: '@agentclientprotocol/claude-agent-acp', version: '0.101.0', program: 'claude-agent-acp' },
  copilot: { name: '@github/copilot', version: '1.0.102', program: 'copilot' },
} as const

export type AgentName = keyof typeof packages

const names = Object.keys(packages) as AgentName[]

/** Those that tests start: all of them with `MEUP_AGENTS=all`. */
export const testedAgents: readonly AgentName[] = process.env.MEUP_AGENTS === 'all' ? names : ['opencode']

/**
 * Installs an agent from the registry of npm, once, and returns the path of its program. Agents are no dependencies: they stay
 * in `node_modules/.cache/meup-agents`, or in `MEUP_AGENTS_CACHE`.
 */
export async function installAgent(agent: AgentName): Promise<string> {
  const { name, version, program } = packages[agent]
  const cache = process.env.MEUP_AGENTS_CACHE ?? join(repositoryRoot, 'node_modules/.cache/meup-agents')
  const folder = join(cache, `${agent}-${version}`)
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true })
    const partial = await mkdtemp(`${folder}.`)
    try {
      // Soon says that there is no network.
      const retries = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000']
      const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
      await run('npm', ['install', '--prefix', partial, ...retries, ...quiet, `${name}@${version}`])
      await rename(partial, folder)
    } catch (error) {
      await rm(partial, { recursive: true, force: true })
      // Another process was faster.
      if (!existsSync(folder)) throw error
    }
  }
  return join(folder, 'node_modules/.bin', program)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of process.argv.slice(2)) {
    const agent = names.find((each) => each === name)
    if (agent === undefined) throw new Error(`${name} is none of ${names.join(', ')}`)
    process.stdout.write(`${await installAgent(agent)}\n`)
  }
}
