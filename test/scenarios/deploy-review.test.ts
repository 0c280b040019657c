import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SpaceClient, Turn } from '@meup/agent-sdk'
import { createTestSpace, type TestSpace } from '@meup/agent-sdk/testing'
import { type Bridge, bridgeMcpServer } from '@meup/mcp-bridge'
import { type AnyEnvelope, type Capability, contextRoot, Kind } from '@meup/protocol'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { parseDiff } from '../../examples/deploy-review/src/analysis/diff.js'
import { review as reviewPerformance } from '../../examples/deploy-review/src/performance-review.js'
import { review as reviewSecurity } from '../../examples/deploy-review/src/security-review.js'
import { takePort } from '../support/cli.js'
import { copyDeployReview } from '../support/example-folder.js'
import { repositoryRoot } from '../support/files.js'
import { some } from '../support/soak.js'

const example = join(repositoryRoot, 'examples/deploy-review')
const server = join(example, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
const diffPath = 'changes/auth-token.diff'
const testsPath = 'reports/security-tests.json'
const loadPath = 'reports/load-test.json'

/** Participants have the capabilities of the example's space.yaml. */
const { participants } = parse(readFileSync(join(example, 'space.yaml'), 'utf8')) as {
  participants: Record<string, { capabilities?: Capability[] }>
}
const capabilities = Object.fromEntries(
  Object.entries(participants).map(([id, each]) => [id, each.capabilities ?? [Kind.mcpResponse]]),
)

/** Connects the real file server as the participant `files`. */
const serveFiles = (test: TestSpace, folder: string): Promise<Bridge> =>
  bridgeMcpServer({
    connect: () => test.join('files'),
    name: 'files',
    command: process.execPath,
    args: [server, folder],
    env: {},
  })

interface Conversation {
  readonly question: AnyEnvelope
  readonly envelopes: readonly AnyEnvelope[]
  /** The answers of the two agents. */
  readonly security: string
  readonly performance: string
}

/** Asks both agents about the repository in the folder, and waits until both have answered. */
async function ask(folder: string): Promise<Conversation> {
  await using test = await createTestSpace({ participants: capabilities })
  const ana = await test.join('ana')
  const files = await serveFiles(test, folder)
  try {
    const failed = Promise.all([
      attend(await test.join('security-agent'), reviewSecurity),
      attend(await test.join('perf-agent'), reviewPerformance),
    ])
    return await Promise.race([listen(ana), failed.then(() => Promise.reject(new Error('no answers')))])
  } finally {
    await files.close()
  }
}

const attend = (space: SpaceClient, review: (turn: Turn) => Promise<void>): Promise<void> =>
  new Promise((resolve, reject) => space.answer(review, { onError: reject }).then(resolve, reject))

async function listen(ana: SpaceClient): Promise<Conversation> {
  const heard = ana.envelopes()
  const question = await ana.chat('Should we deploy this auth change?')
  const envelopes: AnyEnvelope[] = []
  const answers = new Map<string, string>()
  for await (const envelope of heard) {
    envelopes.push(envelope)
    if (envelope.kind !== Kind.chat || envelope.correlationId !== question.id) continue
    answers.set(envelope.from, envelope.payload.message)
    if (answers.size === 2) break
  }
  const answerOf = (agent: string): string => answers.get(agent) ?? `${agent} did not answer`
  return { question, envelopes, security: answerOf('security-agent'), performance: answerOf('perf-agent') }
}

let repo: string
beforeEach(async () => {
  repo = await mkdtemp(join(tmpdir(), 'deploy-review-'))
  await cp(join(example, 'repo'), repo, { recursive: true })
})
afterEach(() => rm(repo, { recursive: true }))

const edit = async (path: string, change: (text: string) => string): Promise<void> => {
  const before = await readFile(join(repo, path), 'utf8')
  expect(change(before)).not.toBe(before)
  await writeFile(join(repo, path), change(before))
}
const letTestsPass = () =>
  edit(testsPath, (text) => text.replaceAll(': "failed"', ': "passed"').replace(/"AssertionError.*"/g, ''))

describe('the repository as it is', () => {
  test('security is against, performance in favour, and both say why', async () => {
    const { security, performance } = await ask(repo)
    expect(security).toContain('Security: I recommend against deploying. 2 of 14 security tests failed:')
    expect(security).toContain('"expiry refuses a token that expired after its first use"')
    expect(security).toContain('`if (known !== undefined) return known` (src/auth/token.ts:23)')
    expect(performance).toBe(
      'Performance: I recommend deploying. p95 latency 285 ms → 201 ms (-29 %), error rate 0.03 % → 0.03 %, ' +
        'throughput 581/s → 840/s (+45 %).',
    )
  })

  test('everyone sees how the security agent came to its answer', async () => {
    const { question, envelopes } = await ask(repo)
    const [run = ''] = envelopes
      .filter(({ kind, from }) => kind === Kind.reasoningStart && from === 'security-agent')
      .map(({ id }) => id)
    const story = envelopes.filter(
      ({ id, from, context, correlationId }) =>
        id === run ||
        (context !== undefined && contextRoot(context) === run) ||
        (from === 'security-agent' && correlationId === question.id),
    )
    expect(story.map(({ kind, context }) => `${kind} in ${context?.split('/').length ?? 0}`)).toEqual([
      'reasoning.start in 0',
      'mcp.request in 1',
      'mcp.request in 1',
      'mcp.response in 1',
      'mcp.response in 1',
      'reasoning.thought in 1',
      'reasoning.thought in 1',
      'reasoning.start in 1',
      'reasoning.thought in 2',
      'reasoning.thought in 2',
      'reasoning.thought in 2',
      'reasoning.conclusion in 2',
      'mcp.request in 1',
      'mcp.response in 1',
      'reasoning.thought in 1',
      'reasoning.conclusion in 1',
      'chat in 0',
    ])
    expect(story[0]).toMatchObject({
      correlationId: question.id,
      payload: { references: [diffPath, testsPath] },
    })
    const requests = story.filter(({ kind }) => kind === Kind.mcpRequest)
    expect(requests).toMatchObject([
      { rationale: 'Which lines change?', parallelGroup: 0 },
      { rationale: 'Do the security tests pass with the change?', parallelGroup: 0 },
      { rationale: 'How fast could we go back?' },
    ])
  })

  test('the diff leads to the file as it is', async () => {
    const hunks = parseDiff(await readFile(join(repo, diffPath), 'utf8'))
    const text = await readFile(join(repo, 'src/auth/token.ts'), 'utf8')
    const after = hunks.flatMap(({ lines }) => lines.filter(({ change }) => change !== 'removed'))
    expect(hunks.map(({ file }) => file)).toEqual(['src/auth/token.ts'])
    expect(after.map(({ number }) => text.split('\n')[number - 1])).toEqual(after.map((line) => line.text))
  })
})

describe('a diff', () => {
  test('is read by its counts, not by how its lines look', () => {
    const diff = ['--- a/x.sql', '+++ b/x.sql', '@@ -7,2 +7,2 @@ q', '--- note', '+++ note', ' end', '']
    expect(parseDiff(diff.join('\n'))).toEqual([
      {
        file: 'x.sql',
        lines: [
          { change: 'removed', number: 7, text: '-- note' },
          { change: 'added', number: 7, text: '++ note' },
          { change: 'kept', number: 8, text: 'end' },
        ],
      },
    ])
  })

  test('of a deleted file keeps its name', () => {
    const diff = '--- a/x.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-if (exp < now) return\n'
    expect(parseDiff(diff)).toMatchObject([{ file: 'x.ts', lines: [{ change: 'removed', number: 1 }] }])
  })

  test('that ends too early is none', () => {
    expect(() => parseDiff('--- a/x.ts\n+++ b/x.ts\n@@ -1,3 +1,3 @@\n-a\n+b\n')).toThrow(
      'the diff ends in the middle of a change',
    )
  })
})

describe('another repository, other answers', () => {
  test('all security tests passed: security is in favour', async () => {
    await letTestsPass()
    const { security } = await ask(repo)
    expect(security).toBe(
      'Security: I recommend deploying. All 14 security tests passed, and the change removes no expiry check.',
    )
  })

  test('an expiry check is removed: security is against, whatever the tests say', async () => {
    await letTestsPass()
    await edit(diffPath, (text) => text.replace(/^ (.*claims\.exp)/m, '-$1').replace('+12,21', '+12,20'))
    const { security } = await ask(repo)
    expect(security).toContain('I recommend against deploying. The expiry check')
    expect(security).toContain(
      "`if (claims.exp <= now()) throw new TokenError('expired')` (src/auth/token.ts:20)",
    )
  })

  test('slower by more than a tenth: performance is against', async () => {
    await edit(loadPath, (text) => text.replace('201.13', '341.5'))
    const { performance } = await ask(repo)
    expect(performance).toBe(
      'Performance: I recommend against deploying. p95 latency 285 ms → 342 ms (+20 %), where at most +10 % is allowed.',
    )
  })

  test('more errors and fewer requests: performance is against for both reasons', async () => {
    await edit(loadPath, (text) => text.replace('0.00029,', '0.031,').replace('0.00029\n', '0.031\n'))
    await edit(loadPath, (text) => text.replace('839.59', '520.4'))
    const { performance } = await ask(repo)
    expect(performance).toContain('error rate 0.03 % → 3.10 %, where at most 1.00 % is allowed; throughput')
  })
})

describe('what cannot be read cannot be judged', () => {
  const thoughtsOf = (agent: string, { envelopes }: Conversation) =>
    envelopes.flatMap((each) =>
      each.kind === Kind.reasoningThought && each.from === agent ? [each.payload] : [],
    )

  const missing = [
    { path: testsPath, agent: 'security-agent', key: 'security' },
    { path: loadPath, agent: 'perf-agent', key: 'performance' },
    { path: diffPath, agent: 'security-agent', key: 'security' },
  ] as const
  test.for(some(missing, 2))('$path is missing', async ({ path, agent, key }) => {
    await rm(join(repo, path))
    const conversation = await ask(repo)
    expect(conversation[key]).toMatch(/^I cannot judge this change, so do not count me as in favour: ENOENT/)
    expect(thoughtsOf(agent, conversation)).toMatchObject([{ phase: 'error' }])
    expect(conversation.envelopes.map(({ kind }) => kind)).not.toContain(Kind.reasoningCancel)
  })

  const unreadable = [
    { path: diffPath, text: 'token.ts was improved', key: 'security', why: 'the diff holds no change' },
    { path: loadPath, text: '{"baseline": {}}', key: 'performance', why: 'has no baseline › metrics' },
    { path: testsPath, text: '{"testResults": []}', key: 'security', why: 'has no test that ran' },
    { path: loadPath, text: 'p95: better', key: 'performance', why: 'the load report is not JSON' },
  ] as const
  test.for(some(unreadable, 2))('$path: $why', async ({ path, text, key, why }) => {
    await writeFile(join(repo, path), text)
    expect((await ask(repo))[key]).toMatch(new RegExp(`^I cannot judge .*${why}`))
  })

  test('without a rollback plan security is against all the more', async () => {
    await rm(join(repo, 'docs/rollback.md'))
    const { security } = await ask(repo)
    expect(security).toMatch(
      /^Security: I recommend against .* no rollback plan that I could read, either\.$/,
    )
  })
})

test('an agent may read what it needs, and nothing else', async () => {
  await using test = await createTestSpace({ participants: capabilities })
  const [agent] = [await test.join('perf-agent'), await test.join('files')]
  const refused = { code: 'capability_violation' }
  await expect(agent.call('files/write_file', { path: loadPath, content: '{}' })).rejects.toMatchObject(
    refused,
  )
  await expect(
    agent.call('files/read_text_file', { path: testsPath.replace('reports', 'src') }),
  ).rejects.toMatchObject(refused)
})

test('pnpm start --once prints the question, the reasoning and both answers, and ends', async () => {
  const start = join(example, 'dist/start.js')
  const { stdout } = await promisify(execFile)(process.execPath, [start, '--once', 'Should we deploy this?'])
  const lines = stdout.trim().split('\n')
  expect(lines[0]).toBe('ana: Should we deploy this?')
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}security-agent → files\/read_text_file .* — .+/))
  expect(lines).toContainEqual(expect.stringMatching(/^ {4}security-agent ∎ The likely cause/))
  expect(lines).toContainEqual(expect.stringMatching(/^perf-agent: Performance: I recommend deploying/))
  expect(lines).toContainEqual(
    expect.stringMatching(/^security-agent: Security: I recommend against deploying/),
  )
})

test('pnpm start refuses a question without --once', async () => {
  const started = promisify(execFile)(process.execPath, [join(example, 'dist/start.js'), 'Should we?'])
  await expect(started).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('[--once "') })
})

test('pnpm start takes the next free port, and says in one sentence that the space runs already', async () => {
  const port = await takePort()
  const folder = copyDeployReview(port)
  const start = () => {
    const child = spawn(process.execPath, [join(folder, 'dist/start.js')])
    onTestFinished(() => void child.kill('SIGTERM'))
    const said = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', (chunk: Buffer) => {
        said[stream] += chunk
      })
    return { child, said, ended: new Promise<number | null>((resolve) => child.on('close', resolve)) }
  }
  const { child, said, ended } = start()
  await expect.poll(() => said.stdout).toMatch(/runs on http:\/\/127\.0\.0\.1:\d+\. In another terminal/)
  expect(said.stdout).not.toContain(`127.0.0.1:${port}.`)
  expect(said.stderr).toContain(`127.0.0.1:${port}, where space.yaml has this gateway listen, is in use`)
  const second = start()
  expect(await second.ended).toBe(1)
  expect(second.said).toMatchObject({
    stdout: '',
    stderr: expect.stringMatching(/^meup: this space runs already at .*\. Enter it with meup join, .*\n$/),
  })
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  expect(said.stderr).toMatch(/ending; a second Ctrl\+C ends at once\n$/)
})
