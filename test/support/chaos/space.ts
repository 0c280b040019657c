import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { temporaryFolder } from '../cli.js'
import { repositoryRoot } from '../files.js'

const programs = join(repositoryRoot, 'test/support/chaos/programs')
const scriptedAgent = join(repositoryRoot, 'packages/acp/test/fixtures/scripted-agent.mjs')

const agent = (file: string, env: Readonly<Record<string, string>> = {}) => ({
  kind: 'process',
  command: process.execPath,
  args: [join(programs, file)],
  watch: false,
  restart: 'always',
  capabilities: ['chat', 'reasoning.*', 'mcp.*', 'participant.status'],
  ...(Object.keys(env).length > 0 && { env }),
})

const toolServer = (name: string) => ({
  kind: 'mcp',
  command: process.execPath,
  args: [join(programs, 'tool-server.mjs'), `${name}.pid`],
})

const coder = {
  kind: 'acp',
  command: process.execPath,
  args: [scriptedAgent, '{}'],
  capabilities: ['chat', 'reasoning.*', 'mcp.*', 'participant.status'],
}

const plenty = { perSecond: 1000, burst: 1000 }

/** Makes a folder with a space of agents, tool servers, coding agents and people. */
export function chaosFolder(addresses: { readonly remote: string; readonly model: string }): string {
  const people = { kind: 'human', capabilities: ['*', 'observe.targeted'] }
  const config = {
    version: 1,
    space: 'chaos',
    gateway: { listen: '127.0.0.1:0' },
    participants: {
      ping: { ...people, kind: 'agent', limits: { rates: { chat: plenty, mcp: plenty } } },
      ana: people,
      ben: people,
      carl: people,
      pong: agent('agent.mjs'),
      flaky: agent('agent.mjs'),
      thinker: agent('model-agent.mjs', { MODEL_BASE_URL: addresses.model }),
      files: toolServer('files'),
      desk: toolServer('desk'),
      remote: { kind: 'mcp', url: addresses.remote },
      coder: coder,
      helper: coder,
    },
  }
  return temporaryFolder({ 'space.yaml': stringify(config) })
}

/** Reads the token of a participant. */
export const tokenOf = (folder: string, participant: string): string =>
  readFileSync(join(folder, '.meup/tokens', participant), 'utf8').trim()

/** Reads the process id that a program has written to a file. */
export const pidOf = (folder: string, participant: string): number =>
  Number(readFileSync(join(folder, `${participant}.pid`), 'utf8'))
