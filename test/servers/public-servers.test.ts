import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { connect, ToolError } from '@meup/agent-sdk'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { demoInMemory, startMeup, temporaryFolder } from '../support/cli.js'
import { openClient, ways } from '../support/mcp-clients.js'
import { install } from './install.js'
import { type PublicServer, publicServers, type ServerName } from './servers.js'

vi.setConfig({ testTimeout: 600_000 })

const names = Object.keys(publicServers) as ServerName[]
const { MEUP_SERVERS = 'all' } = process.env

/** The servers to test: all of them, or those in `MEUP_SERVERS`, separated by commas. */
const testedServers: readonly ServerName[] =
  MEUP_SERVERS === 'all' ? names : MEUP_SERVERS.split(',').map(findServer)

function findServer(name: string): ServerName {
  const found = names.find((each) => each === name)
  if (found === undefined) throw new Error(`MEUP_SERVERS names ${name}, which is none of ${names.join(', ')}`)
  return found
}

/** A variable that marks the processes of a server and its programs. */
const mark = 'PUBLIC_SERVER_FOLDER'

/** Lists the processes with this entry in their environment. */
const runningWith = (entry: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readProcess(pid, 'environ').split('\0').includes(entry))
    .map((pid) => readProcess(pid, 'cmdline').replaceAll('\0', ' '))

function readProcess(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    // The process has just ended, or belongs to another user.
    return ''
  }
}

/** Makes a folder with the files of a server, and a space in which the server is a participant. */
async function prepare(name: ServerName, chromium: string) {
  const folder = temporaryFolder()
  const filled = JSON.parse(
    JSON.stringify(publicServers[name]).replaceAll('$FOLDER', folder).replaceAll('$CHROMIUM', chromium),
  ) as PublicServer
  for (const [path, content] of Object.entries(filled.files ?? {})) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const participant = {
    kind: 'mcp',
    command: await install(name, filled),
    args: filled.args ?? [],
    env: { HOME: folder, DO_NOT_TRACK: '1', [mark]: folder, ...filled.env },
    startTimeout: '60s',
  }
  const yaml = `${demoInMemory}participants:
  ana: { kind: human, capabilities: ["*"] }
  desktop: { kind: human, capabilities: [{ kind: mcp.request, to: ${name} }] }
  ${name}: ${JSON.stringify(participant)}
`
  writeFileSync(join(folder, 'space.yaml'), yaml)
  return { folder, server: filled }
}

describe.for(testedServers.map((name, at) => [name, ways[at % ways.length] ?? 'legacy, stdio'] as const))(
  '%s',
  ([name, way]) => {
    const { args = [] }: PublicServer = publicServers[name]
    const needsBrowser = args.includes('$CHROMIUM')

    const body = async (chromium: string): Promise<void> => {
      const { folder, server } = await prepare(name, chromium)
      const running = await startMeup('up', folder)
      const ana = await connect({ as: 'ana', directory: folder })
      onTestFinished(() => ana.close())
      await ana.whenPresent([name], { timeoutMs: 60_000 })
      const desktop = await openClient(way, folder, 'desktop')
      onTestFinished(() => desktop.close())

      const { tools } = (await ana.request(name, 'tools/list')) as { tools: { name: string }[] }
      const names = tools.map((tool) => tool.name)
      expect(names).toContain(server.call.tool)
      expect((await desktop.tools()).filter((tool) => tool.includes('__'))).toEqual(
        names.map((tool) => `${name}__${tool}`),
      )

      for (const call of [server.call, server.wrong]) {
        const found = await ana.call(`${name}/${call.tool}`, { ...call.arguments }).then(
          ({ text }) => ({ answer: text }),
          (error: unknown) => ({ error: error instanceof ToolError ? error.message : error }),
        )
        const expected =
          'answer' in call
            ? { answer: expect.stringContaining(call.answer) }
            : { error: expect.stringContaining(call.error) }
        expect(found).toEqual(expected)
        if (!names.includes(call.tool)) continue
        const shown = await desktop.call(`${name}__${call.tool}`, call.arguments)
        expect(shown.isError ?? false).toBe('error' in call)
        const text = shown.content.map((each) => each.text ?? '').join('\n')
        expect(text).toContain('answer' in call ? call.answer : call.error)
      }

      expect(runningWith(`${mark}=${folder}`)).not.toEqual([])
      await desktop.close()
      ana.close()
      expect(await running.stop('SIGTERM')).toBe(0)
      expect(runningWith(`${mark}=${folder}`)).toEqual([])
    }

    test(
      `lists its tools, answers, refuses and leaves; ${way}`,
      needsBrowser ? withChromium(body) : () => body(''),
    )
  },
)
