import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ToolError } from '@meup/agent-sdk'
import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { expect, onTestFinished, test } from 'vitest'
import { faults } from '../support/chaos/faults.js'
import { Outcomes, quantile, seeded } from '../support/chaos/outcomes.js'
import { serveRemoteTools } from '../support/chaos/remote-tool-server.js'
import { chaosFolder, pidOf, tokenOf } from '../support/chaos/space.js'
import { withChromium } from '../support/chromium.js'
import { commandLine, startMeup } from '../support/cli.js'
import { type Accepted, expectInLog, metricOf } from '../support/crowd.js'
import { drivePage } from '../support/driven-page.js'
import { completion, delta, events, type ModelReply, serveModel } from '../support/model-server.js'
import { proxy } from '../support/proxy.js'
import { times } from '../support/soak.js'
import { openPane } from '../support/tmux.js'

const runMs = times(40, 1800) * 1000
const faultEveryMs = 2000
const seed = 20_261_127
/** Milliseconds after a fault of the gateway or its disk in which acknowledgements may take longer. */
const calmAfterMs = 10_000
/** Maximum milliseconds until a request is answered or refused. */
const settledMs = 45_000
/** Maximum ends of one kind of program in ten minutes: after ten, a program would stay down until someone restarts it. */
const [maxEndings, endingsMs] = [8, 600_000]

test(
  `a space of twelve under load, with a fault of one every ${faultEveryMs / 1000} s for ${runMs / 1000} s`,
  withChromium(async (chromium) => {
    const random = seeded(seed)
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
    const remote = await serveRemoteTools()
    let modelFault: ModelReply | undefined
    const model = await serveModel(() => {
      const reply = modelFault ?? { body: completion('stop', { content: 'I think so.' }) }
      modelFault = undefined
      return reply
    })
    const folder = chaosFolder({ remote: remote.url, model: model.baseURL })
    const up = await startMeup('up', folder)
    const upEnded = new Promise<never>((_, reject) =>
      up.process.once('exit', (code) => reject(new Error(`meup up ended with ${code}: ${up.stderr}`))),
    )
    upEnded.catch(() => {}) // Promise.race below reports the failure.
    const port = Number(new URL(up.url).port)

    // Human users: a page and a terminal behind a proxy that fails, and a frontend for AG-UI.
    await using line = await proxy(port)
    const page = await drivePage(chromium)
    await page.goTo(`${line.url}/#/s/chaos`)
    await page.type('input[name=token]', tokenOf(folder, 'ana'))
    await page.click('button[type=submit]')
    await page.shows('live')
    const join = commandLine(`join --as ben --url ${up.url}`)
    const terminal = openPane(`sh -c "echo \\$\\$ > ben.pid; exec ${join}"`, { cwd: folder })
    await terminal.sees('ben')
    const frontend = createFrontend(up.url, tokenOf(folder, 'carl'))

    const ping = await SpaceClient.open(dialWs, {
      url: up.url,
      space: 'chaos',
      token: tokenOf(folder, 'ping'),
    })
    onTestFinished(() => ping.close())
    const programs = ['pong', 'flaky', 'thinker', 'files', 'desk', 'remote', 'coder', 'helper']
    await ping.whenPresent(programs, { timeoutMs: 120_000 })

    const accepted: Accepted[] = []
    const acks: number[] = []
    const outcomes = new Outcomes()
    let disturbedUntil = 0
    let isOver = false
    const ask = (agent: string, text: string) => ping.ask(text, { to: [agent], timeoutMs: 30_000 })
    const call = (tool: string, args: object, timeoutMs = 20_000) => ping.call(tool, args, { timeoutMs })

    /** Repeats a request, one at a time, until the run is over. */
    const load = async (pauseMs: number, request: (index: number) => Promise<unknown>): Promise<void> => {
      for (let index = 0; !isOver; index++) {
        await request(index)
        await sleep(pauseMs)
      }
    }
    const unanswered: string[] = []
    const injected: string[] = []
    const honest = load(100, async (index) => {
      const began = performance.now()
      const note = await ping.sendPaced({ kind: 'load.note', payload: { index } })
      if (performance.now() > disturbedUntil) acks.push(performance.now() - began)
      accepted.push(note)
      const answer = await ask('pong', String(index)).catch((error: unknown) => ({ text: String(error) }))
      if (answer.text !== `pong ${index}`) unanswered.push(answer.text)
    })
    const honestFailed = new Promise<never>((_, reject) => {
      honest.catch((cause: unknown) => {
        const after = `after ${injected.slice(-8).join(', ')}: ${up.stderr.slice(-4000)}`
        reject(new Error(`the honest agent was refused ${after}`, { cause }))
      })
    })
    honestFailed.catch(() => {}) // Promise.race below reports the failure.
    const others = [
      load(500, (index) => outcomes.follow('files', call('files/echo', { text: String(index) }))),
      load(500, (index) => outcomes.follow('desk', call('desk/echo', { text: String(index) }))),
      load(500, (index) => outcomes.follow('remote', call('remote/echo', { text: String(index) }))),
      load(1000, (index) => outcomes.follow('flaky', ask('flaky', `question ${index}`))),
      load(1000, () => outcomes.follow('thinker', ask('thinker', 'Do you think so?'))),
      load(1000, () => outcomes.follow('coder', ask('coder', '[["text","it compiles"]]'))),
      load(1000, () => outcomes.follow('helper', ask('helper', '[["text","it helps"]]'))),
      load(1000, () => outcomes.follow('carl', frontend.run('pong', 'hello'))),
    ]

    const disturb = (): void => {
      disturbedUntil = performance.now() + calmAfterMs
    }
    /** Stops a process with SIGSTOP, and lets it continue after `ms` milliseconds. */
    const pause = async (pid: number, ms: number): Promise<void> => {
      process.kill(pid, 'SIGSTOP')
      await sleep(ms)
      process.kill(pid, 'SIGCONT')
    }
    const server = () => pick(['files', 'desk'])
    const coder = () => pick(['coder', 'helper'])
    const broken = (fields: object, end?: ModelReply['end']): ModelReply => ({
      body: events(delta(fields)),
      ...(end && { end }),
    })
    const inject: Readonly<Record<string, () => unknown>> = {
      'agent kill': () => process.kill(pidOf(folder, 'flaky'), 'SIGKILL'),
      'agent throw': () => outcomes.follow('flaky throws', ask('flaky', 'throw')),
      'agent throw-in-listener': () => outcomes.follow('flaky listens', ask('flaky', 'throw-in-listener')),
      'agent crash-later': () => outcomes.follow('flaky crashes', ask('flaky', 'crash-later')),
      'agent stop': () => pause(pidOf(folder, 'flaky'), 3000),
      'model cut': () => {
        modelFault = broken({ content: 'I thi' }, 'cut')
      },
      'model garbage': () => {
        modelFault = { body: 'data: {"choices":\n\n' }
      },
      'tool server unreadable': () =>
        outcomes.follow('unreadable', call(`${server()}/unreadable`, { which: Math.floor(random() * 8) })),
      'tool server large-result': () => outcomes.follow('large', call(`${server()}/large-result`, {})),
      'tool server endless-line': () => outcomes.follow('endless', call(`${server()}/endless-line`, {})),
      'tool server flood': () => outcomes.follow('flood', call(`${server()}/flood`, {})),
      'tool server hang': () => outcomes.follow('hang', call(`${server()}/hang`, {}, 3000)),
      'tool server close-stdout': () => outcomes.follow('close', call(`${server()}/close-stdout`, {})),
      'tool server exit': () => outcomes.follow('exit', call(`${server()}/exit`, {})),
      'remote tool server forget': () => remote.forget(Math.floor(random() * 6)),
      'remote tool server break': () => remote.break(Math.floor(random() * 4)),
      'coding agent unreadable': () => outcomes.follow('odd updates', ask(coder(), oddUpdates)),
      'coding agent flood': () => outcomes.follow('coder floods', ask(coder(), '[["flood",20000]]')),
      'coding agent exit': () => outcomes.follow('coder exits', ask(coder(), '[["exit",3]]')),
      'page silence': () => void line.stop(),
      'terminal stop': () => pause(pidOf(folder, 'ben'), 3000),
      'AG-UI client abort': () => outcomes.follow('frontend leaves', frontend.leave('pong')),
      'gateway stop': async () => {
        disturb()
        await pause(up.process.pid ?? 0, 1500)
        disturb()
      },
      'gateway locked-log': async () => {
        disturb()
        await lockLog(`${folder}/.meup/space.db`, 2000)
        disturb()
      },
    }
    const known = faults.map(({ of, name }) => `${of} ${name}`)
    expect(Object.keys(inject).sort()).toEqual([...known].sort())

    /** Times at which programs of each kind were ended. */
    const endings = new Map<string, readonly number[]>()
    const troubles: Promise<unknown>[] = []
    const began = performance.now()
    while (performance.now() - began < runMs) {
      const fault = pick(faults)
      const name = `${fault.of} ${fault.name}`
      const now = performance.now()
      const ended = (endings.get(fault.of) ?? []).filter((at) => now - at < endingsMs)
      const isSpared =
        'ends' in fault && ended.length >= Math.ceil((maxEndings * Math.min(runMs, endingsMs)) / endingsMs)
      if (!isSpared) {
        if ('ends' in fault) endings.set(fault.of, [...ended, now])
        injected.push(name)
        // Ignores failures of `inject`: the program may not be running at the moment.
        troubles.push(
          Promise.resolve()
            .then(inject[name])
            .catch(() => {}),
        )
      }
      await Promise.race([sleep(faultEveryMs), upEnded, honestFailed])
      expect(outcomes.stuck(settledMs)).toEqual([])
    }
    isOver = true
    const all = Promise.all([honest, ...others, ...troubles])
    await Promise.race([all, upEnded, honestFailed, sleep(settledMs + 30_000)])

    const report = {
      faults: injected.length,
      notes: accepted.length,
      ackMs: { p50: quantile(acks, 0.5), p99: quantile(acks, 0.99), max: quantile(acks, 1) },
      answered: Object.fromEntries(outcomes.answered),
      failed: Object.fromEntries(outcomes.failed),
    }
    console.log(JSON.stringify(report, undefined, 1))
    expect(outcomes.stuck(0)).toEqual([])
    expect(unanswered).toEqual([])
    expect(report.ackMs.p99).toBeLessThan(500)
    expect(up.process.exitCode).toBeNull()
    expect(await metricOf(up.url, 'meup_unhandled_rejections_total')).toBe(0)

    // Wait until all programs have come back on their own.
    await ping.whenPresent([...programs, 'ana', 'ben'], { timeoutMs: 120_000 })
    expect((await ask('flaky', 'well?')).text).toBe('pong well?')
    expect((await ask('thinker', 'well?')).text).toBe('I think so.')
    for (const each of ['coder', 'helper']) expect((await ask(each, '[["text","well"]]')).text).toBe('well')
    for (const each of ['files', 'desk', 'remote'])
      expect((await call(`${each}/echo`, { text: 'well' })).text).toBe('well')
    await ping.chat('the storm is over')
    // If the proxy has just silenced a connection, the page and the terminal notice that within a minute, and reconnect.
    await expect.poll(page.text, { timeout: 90_000 }).toContain('the storm is over')
    await terminal.sees('the storm is over', 90_000)
    expect(await frontend.run('pong', 'well?')).toContain('RUN_FINISHED')
    expect(page.problems.filter((problem) => !/WebSocket|ERR_|Failed to load/.test(problem))).toEqual([])

    expect(await up.stop('SIGTERM')).toBe(0)
    await expectInLog(folder, accepted, 'chaos')
  }),
  runMs + 10 * 60_000,
)

const oddUpdates = JSON.stringify([
  ['junk', 'no message'],
  ['update', { sessionUpdate: 'tool_call_update', toolCallId: 'x', content: [null] }],
  [
    'update',
    {
      sessionUpdate: 'tool_call',
      toolCallId: 'y',
      title: 'read',
      kind: 'read',
      status: 'completed',
      locations: [null],
      content: [{ type: 'diff', path: '/a', oldText: 'o', newText: null }],
    },
  ],
  ['update', { sessionUpdate: 'agent_message_chunk' }],
  ['update', { sessionUpdate: 'plan' }],
  ['text', 'done'],
])

const sqlite = createRequire(new URL('../../packages/gateway/package.json', import.meta.url)).resolve(
  'better-sqlite3',
)
/** A program that locks a SQLite database for some milliseconds, after waiting for the lock. */
const locker = `
  const [sqlite, file, ms] = process.argv.slice(1)
  const other = new (require(sqlite))(file, { timeout: 60000 })
  other.exec('BEGIN EXCLUSIVE')
  setTimeout(() => other.close(), Number(ms))
`

/** Locks the log like another program, such as a SQLite browser. */
const lockLog = async (file: string, ms: number): Promise<void> => {
  await promisify(execFile)(process.execPath, ['-e', locker, sqlite, file, String(ms)])
}

/** Makes a frontend that uses AG-UI. */
function createFrontend(url: string, token: string) {
  let runs = 0
  const post = (agent: string, text: string, signal?: AbortSignal): Promise<Response> => {
    const number = ++runs
    return fetch(`${url}/spaces/chaos/ag-ui?agent=${agent}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        threadId: `thread-${number}`,
        runId: `run-${number}`,
        messages: [{ id: `message-${number}`, role: 'user', content: text }],
        tools: [],
        context: [],
        state: {},
        forwardedProps: {},
      }),
      ...(signal && { signal }),
    })
  }
  return {
    /** Runs an agent, and returns the events as text. */
    async run(agent: string, text: string): Promise<string> {
      const response = await post(agent, text, AbortSignal.timeout(settledMs))
      const body = await response.text()
      if (!response.ok) throw new ToolError(body, response.status)
      return body
    },
    /** Closes the connection during a run, and posts an invalid body. */
    async leave(agent: string): Promise<void> {
      const abort = new AbortController()
      const leaving = post(agent, 'never mind', abort.signal).then((response) => response.text())
      await sleep(5)
      abort.abort()
      await leaving.catch(() => {})
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const odd = await fetch(`${url}/spaces/chaos/ag-ui?agent=${agent}`, {
        ...{ method: 'POST', headers },
        body: '{"messages": [null], "threadId": 7',
      })
      expect(odd.status).toBe(400)
    },
  }
}
