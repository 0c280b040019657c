/** Runs the space of this example. With `--once`: asks the agent, checks the answer against the report, and exits. */
import { equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { connect } from '@meup/agent-sdk'
import { Conversation, loadConfig, operatorLog, untilSignal, up } from 'meup'

const timeoutMs = 60_000
const directory = fileURLToPath(new URL('..', import.meta.url))
const once = process.argv.includes('--once')

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
  console.log(`The space hello-agent runs on ${running.url}. In another terminal:

  pnpm meup -C examples/hello-agent join    talk as ana; ask: Can we deploy?

Ctrl+C stops it.`)
  await untilSignal(running.close)
}

async function ask(): Promise<void> {
  await using ana = await connect({ url: running.url, space: 'hello-agent', as: 'ana', directory })
  await ana.whenPresent(['files', 'reviewer'], { timeoutMs: timeoutMs })
  const conversation = new Conversation()
  ana.on('envelope', (envelope) => {
    for (const line of conversation.lines(envelope)) console.log(line)
  })
  const { text } = await ana.ask('Can we deploy?', { mention: 'reviewer', timeoutMs })
  const failed = readFileSync(`${directory}/files/report.txt`, 'utf8').match(/^FAIL.*$/gm) ?? []
  equal(text, failed.length === 0 ? 'Go ahead.' : `I recommend against deploying: ${failed.join(', ')}`)
}
