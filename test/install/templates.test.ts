import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, expect, test } from 'vitest'
import type { TemplateName } from '../../packages/cli/src/operator/templates.js'
import { environment, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { installNode, keepAddon, packsOf, prebuilds } from '../support/install.js'
import { serveModel } from '../support/model-server.js'
import { Newcomer, reviewerScript, spendFirstHour } from '../support/newcomer.js'

const entry = join(repositoryRoot, 'packages/cli/bin/meup.js')
const codingAgent = join(repositoryRoot, 'packages/acp/test/fixtures/scripted-agent.mjs')
const lines: string[] = []
afterAll(() => void process.stdout.write(`${lines.join('\n')}\n`))

/** Makes an empty folder for a user, with an environment in which one version of Node.js comes first in `PATH`. */
async function placeWith(major: string): Promise<{ newcomer: Newcomer; env: Record<string, string> }> {
  const { bin, headers } = await installNode(major)
  const folder = temporaryFolder()
  const programs = temporaryFolder()
  writeFileSync(join(programs, 'opencode'), `#!/bin/sh\nexec node '${codingAgent}' '${scriptOfCoder}'\n`)
  chmodSync(join(programs, 'opencode'), 0o755)
  const path = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'))
  const env = {
    PATH: [bin, programs, ...path].join(delimiter),
    npm_config_nodedir: headers,
    npm_config_better_sqlite3_local_prebuilds: prebuilds,
  }
  return { newcomer: new Newcomer(folder, env), env }
}

const scriptOfCoder = JSON.stringify({
  script: [
    ['thought', 'The test says what is expected.'],
    ['text', 'sum subtracts.'],
  ],
})

/** Creates a space from a template, with our packages from tarballs, and installs them. */
async function create(
  template: TemplateName,
  { major, client }: { readonly major: string; readonly client: 'npm' | 'pnpm' },
) {
  const { newcomer, env } = await placeWith(major)
  const { baseURL } = await serveModel(reviewerScript)
  const flags = ['--template', template, '--from', await packsOf(), '--person ana --listen 127.0.0.1:0']
  if (template === 'model') flags.push('--base-url', baseURL)
  await newcomer.types(`node '${entry}' init my-space ${flags.join(' ')}`)
  newcomer.enters('my-space')
  if (client === 'npm') await newcomer.types('npm install --no-audit --no-fund')
  else await newcomer.types('npx -y pnpm@10 install')
  await keepAddon(newcomer.folder, environment(env))
  return { newcomer, env, folder: newcomer.folder }
}

/** The command that asks the first question for each template, and the expected answer. */
const questions: Readonly<Record<TemplateName, readonly [command: string, answer: RegExp]>> = {
  hello: ["npx meup ask reviewer 'Can we deploy?'", /I recommend against deploying: FAIL 2/],
  model: ["npx meup ask reviewer 'Can we deploy?'", /Do not deploy: the token expires/],
  mcp: ["npx meup ask secretary 'What fails?'", /Noted in notes\/failed\.md: FAIL 2 token expires/],
  coder: ["npx meup ask coder 'The test fails. Fix it.'", /sum subtracts/],
  team: ["npx meup ask 'Write a report about the tides.'", /The report is in reports\/tides\.md/],
  supervised: ["npx meup ask clerk 'Archive march.txt'", /march\.txt is archived, with the leave of ana/],
}

const matrix = [
  ...(Object.keys(questions) as TemplateName[]).map((template) => [template, 'npm', '20'] as const),
  ...(['22', '24'] as const).flatMap((major) =>
    (['hello', 'model'] as const).map((template) => [template, 'npm', major] as const),
  ),
  ...(['hello', 'model'] as const).map((template) => [template, 'pnpm', '20'] as const),
]

test.for(matrix)(
  '%s, installed with %s on Node %s: a question is answered, types and test are right',
  { timeout: 900_000 },
  async ([template, client, major]) => {
    const { newcomer, env, folder } = await create(template, { major, client })
    const terminal = await newcomer.ups()
    await using ana = await connect({ directory: folder, as: 'ana' })
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.approve(id))
    const [ask, answer] = questions[template]
    expect(await newcomer.types(ask)).toMatch(answer)
    if (template === 'mcp') expect(await askAsClient(folder, env)).toMatch(answer)
    await newcomer.types('npm run check')
    await newcomer.types('npm test')
    await terminal.close()
    const times = newcomer.steps.map(({ step, seconds }) => `${seconds} s ${step.slice(0, 24)}`)
    lines.push(`${template}, ${client}, Node ${major}: ${times.join(' · ')}`)
  },
)

/** Asks like an MCP client: starts the server that .mcp.json configures. */
async function askAsClient(cwd: string, env: Record<string, string>): Promise<string> {
  const { mcpServers } = JSON.parse(readFileSync(join(cwd, '.mcp.json'), 'utf8'))
  const [server] = Object.values(mcpServers) as [{ command: string; args: string[] }]
  const client = new Client({ name: 'editor', version: '1.0.0' })
  const inherited = environment(env) as Record<string, string>
  await client.connect(new StdioClientTransport({ ...server, cwd, env: inherited }))
  try {
    const asked = { name: 'ask', arguments: { message: 'What fails?', to: ['secretary'] } }
    const { structuredContent } = await client.callTool(asked, { timeout: 60_000 })
    return (structuredContent as { text: string }).text
  } finally {
    await client.close()
  }
}

test('the first hour, with an installation: no other step takes more than five seconds', {
  timeout: 900_000,
}, async () => {
  const { newcomer } = await create('model', { major: '20', client: 'npm' })
  await spendFirstHour(newcomer)
  await newcomer.types('npm install --no-audit --no-fund picocolors')
  lines.push('The first hour:', ...newcomer.steps.map(({ step, seconds }) => `${seconds} s  ${step}`))
  for (const { step, seconds } of newcomer.steps)
    if (!step.includes(' install')) expect(seconds, step).toBeLessThan(5)
})

test('in a clone, a space takes further packages', { timeout: 900_000 }, async () => {
  await packsOf()
  const { newcomer } = await placeWith('20')
  await newcomer.types(`node '${entry}' init my-space --person ana --listen 127.0.0.1:0`)
  newcomer.enters('my-space')
  await newcomer.types('npm install --no-audit --no-fund picocolors')
  await newcomer.ups()
  expect(await newcomer.types(questions.hello[0])).toMatch(questions.hello[1])
  await newcomer.types('npm run check')
})
