import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { type AnyEnvelope, correlations, type EnvelopeOf, GATEWAY, Kind } from '@meup/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { meup, type Outcome, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { verifies } from '../verifies.js'

vi.setConfig({ testTimeout: 90_000 }) // A test runs whole spaces with all participants.

/** Copies an example, with a free port. `edit` changes its space.yaml. */
function copyOf(name: string, edit: (config: string) => string = (config) => config): string {
  const [example, folder] = [join(repositoryRoot, 'examples', name), temporaryFolder()]
  const notCopied = ['node_modules', '.meup', 'run']
  cpSync(example, folder, { recursive: true, filter: (path) => !notCopied.includes(basename(path)) })
  symlinkSync(join(example, 'node_modules'), join(folder, 'node_modules'))
  const config = join(folder, 'space.yaml')
  writeFileSync(config, edit(readFileSync(config, 'utf8')).replace('127.0.0.1:8080', '127.0.0.1:0'))
  return folder
}

/** Replaces a part of a text, which must exist. */
const replacing = (part: string, by: string) => (text: string) => {
  expect(text).toContain(part)
  return text.replace(part, by)
}

interface Program {
  readonly said: { stdout: string; stderr: string }
  readonly ended: Promise<number | null>
  kill(signal: NodeJS.Signals): void
  /** Resolves when the program has printed this text. */
  saying(text: string): Promise<void>
}

function start(folder: string, ...args: readonly string[]): Program {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('MEUP_'))
  const child = spawn(process.execPath, [join(folder, 'dist/start.js'), ...args], {
    env: Object.fromEntries(kept),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    said.stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said.stderr += chunk
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    said,
    ended,
    kill: (signal) => void child.kill(signal),
    async saying(text) {
      const over = ended.then((code) => Promise.reject(new Error(`ended with ${code}: ${said.stderr}`)))
      while (!said.stdout.includes(text)) await Promise.race([once(child.stdout, 'data'), over])
    },
  }
}

async function runToEnd(folder: string, ...args: readonly string[]): Promise<Outcome> {
  const { said, ended } = start(folder, ...args)
  const code = await ended
  return { code, ...said }
}

/** Reads everything in a log that ana may read. Starts a gateway on the log of a stopped one. */
async function logOf(folder: string): Promise<AnyEnvelope[]> {
  await startMeup('gateway', folder)
  const { stdout } = await meup(['watch', '--from', '1', '--no-follow', '--json'], { cwd: folder })
  const lines = stdout.trim().split('\n')
  return lines.map((line) => JSON.parse(line) as AnyEnvelope)
}

/** Waits for the next envelope that matches. */
const next = (space: SpaceClient, isIt: (envelope: AnyEnvelope) => boolean): Promise<AnyEnvelope> =>
  new Promise((resolve) => {
    const listen = (envelope: AnyEnvelope): void => {
      if (!isIt(envelope)) return
      space.off('envelope', listen)
      resolve(envelope)
    }
    space.on('envelope', listen)
  })

const ofKind = <K extends Kind>(log: readonly AnyEnvelope[], kind: K): EnvelopeOf<K>[] =>
  log.filter((envelope) => envelope.kind === kind) as EnvelopeOf<K>[]

describe('three capabilities for reasoning', () => {
  verifies(['M23', 'M24', 'M25'], 'the example tells who may do what, and the log agrees', async () => {
    const folder = copyOf('capabilities')
    const { code, stdout, stderr } = await runToEnd(folder)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [yes, no] = ['accepted', 'capability_violation']
    expect(stdout.split('\n').map((line) => line.split(/ +/))).toEqual([
      ['', 'holds', 'reasoning.start', 'reasoning.thought', 'reasoning.conclusion', 'chat'],
      ['thinker', 'reasoning/*', yes, yes, yes, no],
      ['starter', 'reasoning/start', yes, no, no, no],
      ['stepper', 'reasoning/step', no, yes, no, no],
      [''],
      ['Everything', 'is', 'as', 'space.yaml', 'says.'],
      [''],
    ])
    const log = await logOf(folder)
    // The agent that only starts a run leaves, which ends the run; skip the gateway's envelope about it.
    const said = log.filter(({ kind, from }) => /^(reasoning\.|chat)/.test(kind) && from !== GATEWAY)
    const [thinkers, , , starters] = said.map(({ id }) => id)
    expect(said.map(({ from, kind, context }) => [from, kind, context])).toEqual([
      ['thinker', 'reasoning.start', undefined],
      ['thinker', 'reasoning.thought', thinkers],
      ['thinker', 'reasoning.conclusion', thinkers],
      ['starter', 'reasoning.start', undefined],
      ['stepper', 'reasoning.thought', starters],
    ])
  })

  test('it fails where an agent may do more than it should', async () => {
    const { code, stdout, stderr } = await runToEnd(
      copyOf('capabilities', replacing('reasoning/step]', 'reasoning/*]')),
    )
    expect(code).toBe(1)
    expect(stdout).not.toContain('Everything is as space.yaml says.')
    expect(stderr).toMatch(/^\+ .*'reasoning\.conclusion': 'accepted'/m)
  })
})

const titles = [
  '1. The clerk may call no tool. It proposes, and says why; ana agrees to one and not to the other.',
  '2. To look into the inbox is harmless. Ana agrees, and allows it from now on.',
  '3. The clerk no longer asks: it calls the tool itself.',
  '4. That was for one tool. Every other is still proposed.',
  '5. Ana takes it back, and the clerk proposes again.',
]
const look = { method: 'tools/call', params: { name: 'list_directory' } }

/** Checks the first question: one proposal is approved, the other rejected, and the asker sees all of it. */
function expectEverythingSeen(log: readonly AnyEnvelope[]): void {
  const asked = log.findIndex(({ kind }) => kind === Kind.chat)
  const answered = log.findIndex(({ kind, from }) => kind === Kind.chat && from === 'clerk')
  // Presence of programs may come at any time, so leave it out.
  const seen = log.slice(asked, answered + 1).filter(({ kind }) => kind !== Kind.systemPresence)
  expect(seen.map(({ from, kind }) => `${from} ${kind}`)).toEqual([
    'ana chat',
    'clerk reasoning.start',
    'clerk mcp.proposal',
    'ana mcp.request',
    'files mcp.response',
    'clerk mcp.proposal',
    'ana mcp.reject',
    'clerk mcp.withdraw',
    'clerk reasoning.thought',
    'clerk reasoning.conclusion',
    'clerk chat',
  ])
  const [question, run, march, , , april, rejection, withdrawal] = seen
  expect([run?.correlationId, seen.at(-1)?.correlationId]).toEqual([question?.id, question?.id])
  expect([rejection?.correlationId, withdrawal?.correlationId]).toEqual([april?.id, april?.id])
  expect([march, april].map((proposal) => [proposal?.context, proposal?.rationale])).toEqual([
    [run?.id, 'ana wants march.txt archived'],
    [run?.id, 'ana wants april.txt archived'],
  ])
}

/**
 * Checks that ana's requests fulfil proposals exactly, and that the clerk's own request, made while it had a grant, fulfils
 * none.
 */
function expectProgressiveTrust(log: readonly AnyEnvelope[]): void {
  const proposals = ofKind(log, Kind.mcpProposal)
  const [march, , firstLook, april, lastLook] = proposals
  const requests = ofKind(log, Kind.mcpRequest)
  expect(requests.map(({ from, correlationId }) => [from, correlationId])).toEqual([
    ['ana', march?.id],
    ['ana', firstLook?.id],
    ['clerk', undefined],
    ['ana', april?.id],
    ['ana', lastLook?.id],
  ])
  for (const { correlationId, context, rationale, to, payload } of requests) {
    const { method, params } = payload
    const proposal = proposals.find(({ id }) => id === correlationId)
    if (proposal === undefined) continue
    expect(proposal).toMatchObject({ context, to, payload: { method, params } })
    expect(rationale, 'ana has given no reason').toBeUndefined()
  }
  const responses = ofKind(log, Kind.mcpResponse)
  expect(responses.map((response) => [response.from, correlations(response)[0]])).toEqual(
    requests.map(({ id }) => ['files', id]),
  )

  const own = requests.find(({ from }) => from === 'clerk')
  expect(own?.payload).toMatchObject(look)
  const [grant, ...moreGrants] = ofKind(log, Kind.capabilityGrant)
  const [revocation, ...moreRevocations] = ofKind(log, Kind.capabilityRevoke)
  expect([moreGrants, moreRevocations]).toEqual([[], []])
  const capabilities = [{ kind: 'mcp.request', to: 'files', payload: look }]
  expect(grant).toMatchObject({ from: 'ana', payload: { recipient: 'clerk', capabilities } })
  expect(revocation).toMatchObject({ from: 'ana', payload: { recipient: 'clerk', grantId: grant?.id } })
  const steps = [firstLook, grant, own, april, revocation, lastLook].map((step) => step?.seq ?? 0)
  expect(steps).toEqual(steps.toSorted((a, b) => a - b))
}

describe('a supervised agent', () => {
  test('the story is told to its end, and the log has it as it was told', async () => {
    const folder = copyOf('supervised-agent')
    const { code, stdout, stderr } = await runToEnd(folder, '--once')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.match(/^\d\. .*$/gm)).toEqual(titles)
    expect(stdout).toMatch(
      /^ +clerk asks whether move_file of files may be called .*march\.txt.* {2}— ana wants march\.txt archived \(\S+\)$/m,
    )
    expect(stdout).toContain('april.txt stays in the inbox: rejected by ana: not-paid')
    expect(stdout).toMatch(/\nEvery step was as expected\.\n$/)
    const log = await logOf(folder)
    expectEverythingSeen(log)
    expectProgressiveTrust(log)
  })

  test('the story fails where the clerk may do more than propose', async () => {
    const more = replacing('reasoning.*, mcp.proposal', 'reasoning.*, mcp.request, mcp.proposal')
    const { code, stdout, stderr } = await runToEnd(copyOf('supervised-agent', more), '--once')
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'clerk sends a chat instead of a mcp.proposal\n' })
    expect(stdout).not.toContain('Every step was as expected.')
  })

  test('without --once a person decides, by the commands that it tells', async () => {
    const folder = copyOf('supervised-agent')
    const program = start(folder)
    await program.saying('Ctrl+C stops it.')
    const received = [
      'join',
      'proposals ls',
      'proposals reject <id> --reason',
      'proposals approve <id> --always',
    ]
    for (const command of [...received, 'caps ls clerk', 'caps revoke <grant>'])
      expect(program.said.stdout).toContain(`pnpm meup -C examples/supervised-agent ${command}`)
    expect(await runToEnd(folder, '--once')).toMatchObject({
      code: 1,
      stderr: 'This space runs already; stop it first: it starts over each time.\n',
    })

    const url = /http:\S+:\d+/.exec(program.said.stdout)?.[0] ?? ''
    const ana = await connect({ url, space: 'supervised-agent', as: 'ana', directory: folder })
    onTestFinished(() => ana.close())
    await ana.whenPresent(['clerk', 'files'], { timeoutMs: 15_000 })
    const run = (...args: string[]): Promise<Outcome> => meup(args, { cwd: folder })
    /** Asks a question. Returns promises of the proposal that the agent makes, and of its answer. */
    const ask = (question: string) => {
      const answer = next(ana, (each) => each.kind === Kind.chat && each.from === 'clerk')
      const proposal = next(ana, ({ kind }) => kind === Kind.mcpProposal)
      void ana.chat(question)
      return { proposal, answer: answer.then(({ payload }) => (payload as { message: string }).message) }
    }

    const archiving = ask('Archive march.txt, please')
    const { id: unpaid } = await archiving.proposal
    expect((await run('proposals', 'ls')).stdout).toMatch(
      /clerk asks whether move_file of (.|\n)*ana wants march\.txt archived/,
    )
    expect(await run('proposals', 'reject', unpaid, '--reason', 'not-paid')).toMatchObject({ code: 0 })
    expect(await archiving.answer).toBe('march.txt stays in the inbox: rejected by ana: not-paid.')

    const looking = ask('What is in the inbox?')
    const { id: harmless } = await looking.proposal
    expect(await run('proposals', 'approve', harmless, '--always')).toMatchObject({ code: 0 })
    expect(await looking.answer).toBe('In the inbox: april.txt, march.txt (with the leave of ana).')
    expect(await ask('What is in the inbox?').answer).toBe('In the inbox: april.txt, march.txt.')

    const { stdout } = await run('caps', 'ls', 'clerk', '--json')
    const { grants } = JSON.parse(stdout) as { grants: { id: string }[] }
    expect(await run('caps', 'revoke', grants[0]?.id ?? '')).toMatchObject({ code: 0 })
    expect((await ask('What is in the inbox?').proposal).payload).toMatchObject(look)

    ana.close()
    program.kill('SIGTERM')
    expect(await program.ended).toBe(0)
  })
})
