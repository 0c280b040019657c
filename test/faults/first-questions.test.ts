import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { joinCodingAgent } from '@meup/acp'
import { agUi } from '@meup/ag-ui'
import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { serve } from '@meup/gateway'
import { createTestGateway, testToken } from '@meup/gateway/testing'
import { bridgeMcpServer } from '@meup/mcp-bridge'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { seeded } from '../support/chaos/outcomes.js'
import { serveRemoteTools } from '../support/chaos/remote-tool-server.js'
import { temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { saying, serveModel } from '../support/model-server.js'
import { times } from '../support/soak.js'

/** Number of starts of each kind of participant. */
const starts = times(6, 500)
/** Number of starts at the same time. */
const together = 8
/** Maximum milliseconds between the join of a participant and its first question. */
const maxDelayMs = 500

interface Started {
  close(): unknown
}

interface Kit {
  readonly folder: string
  connect(id: string): Promise<SpaceClient>
}

interface ParticipantKind {
  /** Starts the participant. Resolves when the start has finished, which may be after the join. */
  start(id: string, kit: Kit): Promise<Started>
  /** Asks or calls the participant; rejects if it does not answer. */
  ask(id: string, asker: SpaceClient, url: string): Promise<unknown>
}

const random = seeded(7)
const ask = (id: string, asker: SpaceClient, text = 'well?') =>
  asker.ask(text, { to: [id], timeoutMs: 60_000 })
const call = (id: string, asker: SpaceClient) =>
  asker.call(`${id}/echo`, { text: 'well?' }, { timeoutMs: 60_000 })

/** An agent that needs some time before it answers. */
const sdkAgent: ParticipantKind = {
  async start(id, { connect }) {
    const space = await connect(id)
    await sleep(random() * 300)
    space.answer((turn) => turn.reply('well')).catch(() => {})
    return space
  },
  ask,
}

const programs = join(repositoryRoot, 'test/support/chaos/programs')

const kinds: Readonly<Record<string, () => Promise<ParticipantKind> | ParticipantKind>> = {
  'an SDK agent': () => sdkAgent,
  'a tool of the SDK': () => ({
    async start(id, { connect }) {
      const space = await connect(id)
      await sleep(random() * 300)
      return space.tool('echo', {}, () => 'well')
    },
    ask: call,
  }),
  'a model agent': async () => {
    const { baseURL } = await serveModel(() => saying('well'))
    return {
      async start(id, { connect }) {
        const space = await connect(id)
        await sleep(random() * 300)
        space.agent({ model: 'scripted', baseURL, tools: [], transcript: 'off' }).catch(() => {})
        return space
      },
      ask,
    }
  },
  'a coding agent': () => ({
    start: (id, { connect, folder }) =>
      joinCodingAgent({
        command: process.execPath,
        args: [join(repositoryRoot, 'packages/acp/test/fixtures/scripted-agent.mjs'), '{}'],
        env: { PATH: process.env.PATH ?? '' },
        cwd: folder,
        connect: () => connect(id),
      }),
    ask: (id, asker) => ask(id, asker, '[["text","well"]]'),
  }),
  'an MCP server over stdio': () => ({
    start: (id, { connect, folder }) =>
      bridgeMcpServer({
        name: id,
        command: process.execPath,
        args: [join(programs, 'tool-server.mjs'), join(folder, `${id}.pid`)],
        env: { PATH: process.env.PATH ?? '' },
        connect: () => connect(id),
      }),
    ask: call,
  }),
  'an MCP server over HTTP': async () => {
    const { url } = await serveRemoteTools()
    return {
      start: (id, { connect }) => bridgeMcpServer({ name: id, url, connect: () => connect(id) }),
      ask: call,
    }
  },
  'an agent that is asked over AG-UI': () => ({
    ...sdkAgent,
    async ask(id, _, url) {
      const response = await fetch(`${url}/spaces/test/ag-ui?agent=${id}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${testToken('ana')}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          ...{ threadId: `${id}-${random()}`, runId: `${random()}`, tools: [], context: [], state: {} },
          messages: [{ id: `m${random()}`.replace('.', ''), role: 'user', content: 'well?' }],
          forwardedProps: {},
        }),
      })
      const body = await response.text()
      if (!body.includes('RUN_FINISHED')) throw new Error(body)
    },
  }),
}

for (const [name, createKind] of Object.entries(kinds)) {
  test(
    `${name} answers what it is asked within ${maxDelayMs} ms of its join, ${starts} times of ${starts}`,
    async () => {
      const ids = Array.from({ length: together }, (_, index) => `worker-${index}`)
      const all = Object.fromEntries([...ids, 'ana'].map((id) => [id, ['*', 'observe.targeted']]))
      const gateway = await createTestGateway({ participants: all })
      const served = await serve({ gateway, host: '127.0.0.1', port: 0, modules: [async () => agUi] })
      onTestFinished(() => served.close())
      const { url } = served
      const connect = (id: string) => SpaceClient.open(dialWs, { url, space: 'test', token: testToken(id) })
      const kit = { connect, folder: temporaryFolder() }
      const ana = await connect('ana')
      onTestFinished(() => ana.close())
      const kind = await createKind()
      const failures: string[] = []

      /** Resolves when the participant joins, or leaves. */
      const next = (event: 'join' | 'leave', id: string): Promise<void> =>
        new Promise((resolve) => {
          const look = ({ kind, payload }: AnyEnvelope): void => {
            if (kind !== Kind.systemPresence || payload.event !== event || payload.participant.id !== id)
              return
            ana.off('envelope', look)
            resolve()
          }
          ana.on('envelope', look)
        })

      const startOnce = async (id: string): Promise<void> => {
        const joined = next('join', id)
        const starting = kind.start(id, kit)
        const asked = joined
          .then(() => sleep(random() * maxDelayMs))
          .then(() => kind.ask(id, ana, url))
          .catch((error: unknown) => failures.push(`${id}: ${String(error)}`))
        const started = await starting
        await asked
        const left = next('leave', id)
        await started.close()
        await left
      }
      let begun = 0
      await Promise.all(
        ids.map(async (id) => {
          while (begun++ < starts) await startOnce(id)
        }),
      )
      expect(failures).toEqual([])
    },
    starts * 2000 + 120_000,
  )
}
