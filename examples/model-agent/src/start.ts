/** Runs the space of this example. With `--once`: asks the agent, checks its acts, and exits. */
import { deepEqual, match } from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { connect } from '@meup/agent-sdk'
import { Kind } from '@meup/protocol'
import { Conversation, loadConfig, operatorLog, untilSignal, up } from 'meup'
import { chooseModel } from './choose-model.js'

const timeoutMs = 120_000
const directory = fileURLToPath(new URL('..', import.meta.url))
const once = process.argv.includes('--once')
const isScripted = !process.env.MODEL
// Ends the program if a key is missing. The model itself is chosen in the agent's process.
chooseModel(process.env)

const config = loadConfig(`${directory}/space.yaml`)
const gateway = once ? { ...config.gateway, port: 0 } : config.gateway
const running = await up({ ...config, gateway }, operatorLog('warn'))

if (once) {
  await ask().catch((error: Error) => {
    console.error(error.message)
    process.exitCode = 1
  })
  await running.close()
} else {
  console.log(`The space model-agent runs on ${running.url}, with ${process.env.MODEL || 'a script for a model'}. In another terminal:

  pnpm meup -C examples/model-agent join    talk as ana; ask: Can we deploy?

Ctrl+C stops it.`)
  await untilSignal(running.close)
}

/** Asks a question as ana. Checks the answer and, if a script is the model, every call: a real model may make other calls. */
async function ask(): Promise<void> {
  await using ana = await connect({ url: running.url, space: 'model-agent', as: 'ana', directory })
  await ana.whenPresent(['files', 'reviewer'], { timeoutMs: timeoutMs })
  const conversation = new Conversation()
  const calls: unknown[] = []
  ana.on('envelope', (envelope) => {
    for (const line of conversation.lines(envelope)) console.log(line)
    if (envelope.kind !== Kind.mcpRequest || envelope.payload.method !== 'tools/call') return
    calls.push([envelope.payload.params?.name, envelope.rationale])
  })
  const { text } = await ana.ask('Can we deploy?', { mention: 'reviewer', timeoutMs })
  match(text, /token expires/)
  if (!isScripted) return
  deepEqual(calls, [
    ['list_directory', 'to find the test report'],
    ['read_text_file', 'what fails decides'],
  ])
}
