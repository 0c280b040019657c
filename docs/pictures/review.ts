import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient, type Turn } from '@meup/agent-sdk'
import { bridgeMcpServer } from '@meup/mcp-bridge'
import { Kind } from '@meup/protocol'
import { onTestFinished } from 'vitest'
import { parse, stringify } from 'yaml'
import { review as reviewPerformance } from '../../examples/deploy-review/src/performance-review.js'
import { review as reviewSecurity } from '../../examples/deploy-review/src/security-review.js'
import { startMeup, temporaryFolder } from '../../test/support/cli.js'
import { repositoryRoot } from '../../test/support/files.js'
import { Pace, paced } from './pace.js'

const example = join(repositoryRoot, 'examples/deploy-review')

/**
 * The configuration of the example with a free port, and two more agents: one that has to ask for approval, and one that offers
 * the tool.
 */
function config(): string {
  const { participants, ...rest } = parse(readFileSync(join(example, 'space.yaml'), 'utf8')) as {
    participants: Record<string, { capabilities?: unknown[] }>
  }
  const others = Object.entries(participants).map(([id, { capabilities }]) => [
    id,
    { kind: id === 'ana' ? 'human' : 'agent', capabilities: capabilities ?? [Kind.mcpResponse] },
  ])
  return stringify({
    ...rest,
    gateway: { listen: '127.0.0.1:0' },
    participants: {
      ...Object.fromEntries(others),
      'release-agent': {
        kind: 'agent',
        capabilities: [
          Kind.chat,
          'reasoning.*',
          Kind.mcpProposal,
          Kind.mcpWithdraw,
          { kind: Kind.mcpRequest, to: 'files' },
        ],
      },
      repo: { kind: 'agent', capabilities: [Kind.mcpResponse] },
    },
  })
}

export interface Review {
  /** Folder in which `meup` finds the gateway. */
  readonly folder: string
  readonly url: string
  readonly token: string
  readonly security: Pace
  readonly performance: Pace
  /** Steps of the agent that proposes a call which it may not make itself. */
  readonly release: Pace
}

/**
 * Starts a gateway, the agents of the example, and the file server that they read with. Each agent waits before each step until
 * its `Pace` releases it.
 */
export async function openReview(): Promise<Review> {
  const folder = temporaryFolder({ 'space.yaml': config() })
  const { url } = await startMeup('gateway', folder)
  const enter = async (as: string): Promise<SpaceClient> => {
    const space = await connect({ url, space: 'deploy-review', as, directory: folder })
    onTestFinished(() => space.close())
    return space
  }
  const server = join(example, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
  const files = await bridgeMcpServer({
    connect: () => enter('files'),
    name: 'files',
    command: process.execPath,
    args: [server, join(example, 'repo')],
    env: {},
  })
  onTestFinished(() => files.close())
  const repo = await enter('repo')
  repo.tool('revert', {}, () => 'reverted auth-token as 7c1e0d4')
  const [security, performance, release] = [new Pace(), new Pace(), new Pace()]
  const attend = async (as: string, pace: Pace, answer: (turn: Turn) => Promise<void>): Promise<void> => {
    const isMeant = ({ text }: Turn): boolean => /deploy/.test(text) === (as !== 'release-agent')
    const space = await enter(as)
    void space.answer((turn) => (isMeant(turn) ? answer(paced(turn, pace)) : Promise.resolve()))
  }
  await attend('security-agent', security, reviewSecurity)
  await attend('perf-agent', performance, reviewPerformance)
  await attend('release-agent', release, revert)
  const token = readFileSync(join(folder, '.meup/tokens/ana'), 'utf8').trim()
  return { folder, url, token, security, performance, release }
}

/** Proposes to revert the change, because the agent may not call the tool itself. */
async function revert(turn: Turn): Promise<void> {
  await using run = await turn.reason('What has to be undone?')
  await run.call(
    'files/read_text_file',
    { path: 'docs/rollback.md' },
    { why: 'who has to know, and for how long?' },
  )
  await run.thought('Security is against it; **performance alone** is no reason to keep it.')
  const args = { change: 'auth-token', branch: 'main' }
  const { text } = await run.call('repo/revert', args, { why: 'an expired token would be let in' })
  await run.conclude('The change is out.')
  await turn.reply(`Done: ${text}.`)
}
