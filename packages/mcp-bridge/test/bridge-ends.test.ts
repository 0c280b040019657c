import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, ToolError } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { serve } from '@meup/gateway'
import { createTestGateway, testToken } from '@meup/gateway/testing'
import { bridgeMcpServer, type McpServerOptions } from '@meup/mcp-bridge'
import { Kind } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serveHttp } from './support/http-server.js'
import { fixtures } from './support/processes.js'

const run = (program: 'oddServer' | 'rawServer', ...args: string[]): McpServerOptions => ({
  name: 'files',
  command: process.execPath,
  args: [fixtures[program], ...args],
  env: {},
})

describe('a call that is made as soon as the server has joined is answered', () => {
  test.for([
    ['stdio', Number(process.env.MEUP_JOINS ?? 10), async () => run('oddServer')],
    ['http', 20, async () => ({ name: 'files', url: (await serveHttp('stateless')).url })],
  ] as const)('over real sockets: %s, %i times', async ([, count, createServer]) => {
    const names = Array.from({ length: count }, (_, n) => `files-${n}`)
    const participants = Object.fromEntries([...names, 'ana'].map((name) => [name, ['*']]))
    const gateway = await createTestGateway({ participants })
    const { url, close } = await serve({ gateway, host: '127.0.0.1', port: 0 })
    onTestFinished(close)
    const join = (name: string) => connect({ url, space: 'test', token: testToken(name) })
    const ana = await join('ana')
    const answers: Promise<unknown>[] = []
    ana.on('envelope', ({ kind, payload }) => {
      if (kind !== Kind.systemPresence || payload.event !== 'join' || !names.includes(payload.participant.id))
        return
      const { id } = payload.participant
      answers.push(
        sleep((answers.length % 6) * 10).then(() => ana.request(id, 'tools/list', {}, { timeoutMs: 20_000 })),
      )
    })
    for (let n = 0; n < count; n += 5) {
      await Promise.all(
        names.slice(n, n + 5).map(async (name) => {
          const bridge = await bridgeMcpServer({ ...(await createServer()), name, connect: () => join(name) })
          onTestFinished(() => bridge.close())
        }),
      )
    }
    await expect.poll(() => answers.length).toBe(count)
    expect(await Promise.all(answers)).toHaveLength(count)
  })
})

describe('what is open when a bridge is closed', () => {
  test.for([
    ['stdio', async () => run('rawServer'), 'silent'],
    ['http', async () => ({ name: 'files', url: (await serveHttp('sessions')).url }), 'wait'],
  ] as const)('is answered with an error at once: %s', async ([, createServer, tool]) => {
    const space = await createTestSpace({ participants: { ana: ['*'], files: ['mcp.*'] } })
    onTestFinished(() => space.close())
    const ana = await space.join('ana')
    const bridge = await bridgeMcpServer({ ...(await createServer()), connect: () => space.join('files') })
    const calls = Array.from({ length: 3 }, () => ana.call(`files/${tool}`).catch((error: unknown) => error))
    await ana.request('files', 'ping', {})
    const closing = bridge.close()
    const late = ana.call(`files/${tool}`).catch((error: unknown) => error)
    for (const error of await Promise.all([...calls, late])) {
      expect(error).toBeInstanceOf(ToolError)
      expect(error).toMatchObject({ code: -32000 })
    }
    await closing
    expect(await bridge.ended).toHaveProperty('reason')
  })
})

describe('a start that fails', () => {
  test('because its participant cannot connect leaves no process', async () => {
    const before = listReapers()
    const failing = bridgeMcpServer({
      ...run('rawServer'),
      connect: () => Promise.reject(new Error('no such space')),
    })
    await expect(failing).rejects.toThrow('no such space')
    expect(listReapers()).toEqual(before)
  })
})

function listReapers(): string[] {
  const rows = execFileSync('ps', ['-A', '-o', 'ppid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  return rows.filter((row) => new RegExp(`^ *${process.pid} +[^Z].*reaper`).test(row))
}
