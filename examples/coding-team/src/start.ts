/** Runs the space of this example. With `--once`, a script plays ana, checks the results, and exits. */
import { deepEqual, match } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { Conversation, loadConfig, operatorLog, untilSignal, up } from 'meup'
import { serveScript } from './script.js'

const opencode = 'opencode-ai@1.18.33'
const timeoutMs = 120_000
const directory = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const repo = `${directory}/run/repo`
const once = process.argv.includes('--once')
const isScripted = process.env.MODEL === undefined || process.env.MODEL_BASE_URL === undefined

rmSync(`${directory}/run`, { recursive: true, force: true })
cpSync(`${directory}/repo`, repo, { recursive: true })
mkdirSync(`${directory}/run/home`, { recursive: true })
const model = process.env.MODEL ?? 'script'
const baseURL = isScripted ? await serveScript(repo) : (process.env.MODEL_BASE_URL ?? '')
const provider = {
  npm: '@ai-sdk/openai-compatible',
  options: { baseURL, apiKey: process.env.MODEL_API_KEY ?? 'none' },
  models: { [model]: { reasoning: true, tool_call: true } },
}
process.env.MODEL = model
process.env.MODEL_BASE_URL = baseURL
process.env.CODER ??= findCoder()
process.env.CODER_HOME = isScripted ? `${directory}/run/home` : process.env.HOME
process.env.CODER_CONFIG = JSON.stringify({
  model: `team/${model}`,
  enabled_providers: ['team'],
  provider: { team: provider },
})

const config = loadConfig(`${directory}/space.yaml`)
const gateway = once ? { ...config.gateway, port: 0 } : config.gateway
const running = await up({ ...config, gateway }, operatorLog('warn'))

if (once) {
  await play().catch((error: Error) => {
    console.error(error.message)
    process.exitCode = 1
  })
  await running.close()
} else {
  console.log(`The space coding-team runs on ${running.url}, with ${isScripted ? 'a script for a model' : model}. In other terminals:

  pnpm meup -C examples/coding-team open    see it in a browser, and decide there
  pnpm meup -C examples/coding-team join    talk as ana; ask: @coder The test fails. Fix it.

Ctrl+C stops it.`)
  await untilSignal(running.close)
}

/** Returns the command of the coding agent: the installed one, or one from npm that is kept below node_modules. */
function findCoder(): string {
  const folder = `${directory}/node_modules/.cache/opencode`
  const installed = `${folder}/node_modules/.bin/opencode`
  const isThere = (process.env.PATH ?? '').split(':').some((path) => existsSync(`${path}/opencode`))
  if (isThere) return 'opencode'
  if (!existsSync(installed)) {
    console.log(`Installing ${opencode}, some 350 MB, for this example alone …`)
    execFileSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', opencode], {
      stdio: 'inherit',
    })
  }
  return installed
}

async function play(): Promise<void> {
  await using ana = await connect({ url: running.url, space: 'coding-team', as: 'ana', directory })
  await ana.whenPresent(['coder', 'files', 'reviewer'], { timeoutMs })
  const conversation = new Conversation()
  ana.on('envelope', (envelope) => {
    for (const line of conversation.lines(envelope)) console.log(line)
  })
  const decided = decide(ana)
  const { text } = await ana.ask('The test fails. Fix it.', { mention: 'coder', timeoutMs })
  if (!isScripted) return
  const answer = await ana.ask('Is the change right?', { mention: 'reviewer', timeoutMs })
  match(readFileSync(`${repo}/sum.js`, 'utf8'), /a \+ b/)
  match(text, /rejected by ana/)
  match(answer.text, /is right/)
  deepEqual(decided, ['edit approved', 'bash approved', 'bash rejected'])
  console.log('\nEvery step was as expected.')
}

/** Lets ana approve edits and tests, and reject commands that remove something. Returns the list of decisions. */
function decide(ana: SpaceClient): string[] {
  const decided: string[] = []
  ana.proposals.on('proposal', ({ id, params }) => {
    const { name, arguments: args } = params as { name: string; arguments: { command?: string } }
    const isSafe = args.command === undefined || /^node [\w.]+$/.test(args.command)
    decided.push(`${name} ${isSafe ? 'approved' : 'rejected'}`)
    const deciding = isSafe
      ? ana.proposals.approve(id, { why: 'it stays in the repository', timeoutMs })
      : ana.proposals.reject(id, { reason: 'policy', message: 'nothing is removed here' })
    deciding.catch((error: Error) => console.error(error.message))
  })
  return decided
}
