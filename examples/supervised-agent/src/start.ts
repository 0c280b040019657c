/** Runs the space of this example. With `--once`, a script plays ana, checks every step, and exits. */
import { cpSync, existsSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ConnectionError, connect } from '@meup/agent-sdk'
import { ProtocolError } from '@meup/protocol'
import { loadConfig, operatorLog, untilSignal, up } from 'meup'
import { playStory } from './story.js'

const timeoutMs = 60_000
const directory = fileURLToPath(new URL('..', import.meta.url))
const desk = `${directory}/run/desk`
const once = process.argv.includes('--once')

if (await isRunning()) {
  console.error('This space runs already; stop it first: it starts over each time.')
  process.exit(1)
}
rmSync(`${directory}/run`, { recursive: true, force: true })
cpSync(`${directory}/papers`, desk, { recursive: true })

const config = loadConfig(`${directory}/space.yaml`)
const gateway = once ? { ...config.gateway, port: 0 } : config.gateway
const running = await up({ ...config, gateway }, operatorLog('warn'))

if (once) {
  await runScript().catch((error: Error) => {
    console.error(error.message)
    process.exitCode = 1
  })
  await running.close()
} else {
  const meup = 'pnpm meup -C examples/supervised-agent'
  console.log(`The space supervised-agent runs on ${running.url}. You are ana. In another terminal, talk to the clerk:

  ${meup} join    ask: What is in the inbox?  Or: Archive march.txt, please

In a third one, decide what it may do:

  ${meup} proposals ls                     see what it proposes, and why
  ${meup} proposals approve <id>           have it done, this once
  ${meup} proposals approve <id> --always  and let the clerk do it by itself from now on
  ${meup} proposals reject <id> --reason "not paid yet"
  ${meup} caps ls clerk                    see what it may do by itself
  ${meup} caps revoke <grant>              take that back

Ctrl+C stops it.`)
  await untilSignal(running.close)
}

async function runScript(): Promise<void> {
  await using ana = await connect({ url: running.url, space: 'supervised-agent', as: 'ana', directory })
  setTimeout(() => ana.close(), timeoutMs).unref()
  await ana.whenPresent(['files', 'clerk'], { timeoutMs })
  await playStory(ana, desk)
  console.log('\nEvery step was as expected.')
}

async function isRunning(): Promise<boolean> {
  if (!existsSync(`${directory}/.meup`)) return false
  try {
    await using _ana = await connect({ space: 'supervised-agent', as: 'ana', directory })
    return true
  } catch (error) {
    if (error instanceof ConnectionError || error instanceof ProtocolError) return false
    throw error
  }
}
