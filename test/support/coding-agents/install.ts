import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { repositoryRoot } from '../files.js'
import { installProgram } from '../npm-cache.js'

/** The tested coding agents: package, exact version, and the program in it that speaks ACP. */
const packages = {
  opencode: { name: 'opencode-ai', version: '1.18.33', program: 'opencode' },
  gemini: { name: '@google/gemini-cli', version: '0.61.0', program: 'gemini' },
  codex: { name: '@agentclientprotocol/codex-acp', version: '2.6.0', program: 'codex-acp' },
  claude: { name: '@agentclientprotocol/claude-agent-acp', version: '0.101.0', program: 'claude-agent-acp' },
  copilot: { name: '@github/copilot', version: '1.0.102', program: 'copilot' },
} as const

export type AgentName = keyof typeof packages

const names = Object.keys(packages) as AgentName[]

/** The agents to test: all of them with `MEUP_AGENTS=all`. */
export const testedAgents: readonly AgentName[] = process.env.MEUP_AGENTS === 'all' ? names : ['opencode']

/**
 * Installs an agent from npm once, and returns the path of its program. Agents are not dependencies: they are kept in
 * `node_modules/.cache/meup-agents`, or in `MEUP_AGENTS_CACHE`.
 */
export function installAgent(agent: AgentName): Promise<string> {
  const { name, version, program } = packages[agent]
  const cache = process.env.MEUP_AGENTS_CACHE ?? join(repositoryRoot, 'node_modules/.cache/meup-agents')
  return installProgram(cache, { spec: `${name}@${version}`, program, folder: `${agent}-${version}` })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of process.argv.slice(2)) {
    const agent = names.find((each) => each === name)
    if (agent === undefined) throw new Error(`${name} is none of ${names.join(', ')}`)
    process.stdout.write(`${await installAgent(agent)}\n`)
  }
}
