/**
 * Runs the space of this example. With `--once "<question>"`: asks the question, prints the conversation with the reasoning
 * that led to the answers, and exits.
 */
import { fileURLToPath } from 'node:url'
import { ConnectionError, connect, type SpaceClient } from '@meup/agent-sdk'
import { Conversation, loadConfig, operatorLog, reportError, untilSignal, up } from 'meup'

type Config = ReturnType<typeof loadConfig>

const agents = ['security-agent', 'perf-agent']
const timeoutMs = 60_000

const flag = process.argv.indexOf('--once')
const question = flag === -1 ? undefined : process.argv[flag + 1]
if (process.argv.length > 2 && !question) {
  console.error('usage: pnpm start [--once "Should we deploy this auth change?"]')
  process.exit(2)
}

const folder = fileURLToPath(new URL('..', import.meta.url))
try {
  const config = loadConfig(`${folder}/space.yaml`)
  await (question === undefined ? stay(config) : askOnce(config, question))
} catch (error) {
  reportError(error)
}

async function stay(config: Config): Promise<void> {
  const running = await up(config, operatorLog('warn'))
  console.log(`The space deploy-review runs on ${running.url}. In another terminal:

  pnpm meup -C examples/deploy-review join            talk as ana; ask: Should we deploy this auth change?
  pnpm meup -C examples/deploy-review watch --from 1  see everything that happened
  pnpm meup -C examples/deploy-review open            the same as a page

Ctrl+C stops it.`)
  await untilSignal(running.close)
}

async function askOnce(config: Config, question: string): Promise<void> {
  const seat = await takeSeat(config)
  try {
    await ask(seat.ana, question)
  } finally {
    seat.ana.close()
    await seat.close()
  }
}

/** Joins the space that already runs here, or else starts one for this question, on any free port. */
async function takeSeat(config: Config): Promise<{ ana: SpaceClient; close(): Promise<void> }> {
  try {
    return { ana: await connect({ as: 'ana', directory: folder }), close: async () => {} }
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error // No gateway runs here.
  }
  const running = await up({ ...config, gateway: { ...config.gateway, port: 0 } }, operatorLog('warn'))
  return { ana: await connect({ as: 'ana', directory: folder }), close: running.close }
}

/** Asks, and prints all messages and thoughts until every agent has answered. */
async function ask(space: SpaceClient, text: string): Promise<void> {
  await space.whenPresent(['files', ...agents], { timeoutMs: timeoutMs })
  const conversation = new Conversation()
  const waiting = new Set(agents)
  const timer = setTimeout(() => space.close(), timeoutMs)
  const envelopes = space.envelopes()
  const { id } = await space.chat(text)
  let asked = false
  for await (const envelope of envelopes) {
    asked ||= envelope.id === id
    if (!asked) continue
    for (const line of conversation.lines(envelope)) console.log(line)
    if (envelope.kind === 'chat' && envelope.correlationId === id) waiting.delete(envelope.from)
    if (waiting.size === 0) break
  }
  clearTimeout(timer)
  if (waiting.size > 0)
    throw new Error(`no answer from ${[...waiting].join(' and ')} within ${timeoutMs / 1000} s`)
}
