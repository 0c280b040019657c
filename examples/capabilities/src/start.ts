/**
 * Lets three agents try to begin to reason, to add a thought, to conclude, and to chat. Exits with 1 if an answer is not as
 * expected.
 */
import { deepEqual } from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { connect } from '@meup/agent-sdk'
import { loadConfig, operatorLog, up } from 'meup'
import { type Answers, kinds, tryAll } from './attempts.js'

const yes = 'accepted'
const no = 'capability_violation'

/** The answers that each agent should get with its capabilities in space.yaml. */
const expected: Readonly<Record<string, Answers>> = {
  thinker: { 'reasoning.start': yes, 'reasoning.thought': yes, 'reasoning.conclusion': yes, chat: no },
  starter: { 'reasoning.start': yes, 'reasoning.thought': no, 'reasoning.conclusion': no, chat: no },
  stepper: { 'reasoning.start': no, 'reasoning.thought': yes, 'reasoning.conclusion': no, chat: no },
}

const directory = fileURLToPath(new URL('..', import.meta.url))
const config = loadConfig(`${directory}/space.yaml`)
const gateway = await up({ ...config, gateway: { ...config.gateway, port: 0 } }, operatorLog('warn'))
try {
  const found: Record<string, Answers> = {}
  print(['', 'holds', ...kinds])
  let run = '' // The stepper may begin none: it thinks along in that of the starter.
  for (const as of Object.keys(expected)) {
    await using space = await connect({ url: gateway.url, space: 'capabilities', as, directory })
    const tried = await tryAll(space, run)
    run = tried.run
    found[as] = tried.answers
    print([as, space.capabilities.map(String).join(), ...kinds.map((kind) => tried.answers[kind])])
  }
  deepEqual(found, expected)
  console.log('\nEverything is as space.yaml says.')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await gateway.close()
}

function print([agent = '', ...cells]: readonly string[]): void {
  console.log([agent.padEnd(8), ...cells.map((cell) => cell.padEnd(21))].join(' ').trimEnd())
}
