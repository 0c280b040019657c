import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { testToken } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../../test/support/cli.js'
import { times } from '../../../../test/support/soak.js'
import { recordEnvelopes } from '../support/record-envelopes.js'
import { standing } from '../support/standing.js'

/** An agent that adds up numbers and knows earlier ones only from its memory of the conversation. */
const program = `
import { connect } from '@meup/agent-sdk'
import { scriptedModel } from '@meup/agent-sdk/ai'
const texts = ({ prompt }) => prompt.slice(1).map(({ content }) => content[0].text).join('\\n')
const space = await connect()
const model = scriptedModel((request) => {
  const said = texts(request)
  const [, first] = /first: (\\d+)/.exec(said) ?? /Add (\\d+)/.exec(said) ?? []
  if (JSON.stringify(request.prompt[0]).includes('keep notes')) return [{ text: 'first: ' + first }]
  const before = Number([...said.matchAll(/The sum is (\\d+)/g)].at(-1)?.[1] ?? 0)
  const added = Number(/Add (\\d+)\\.$/.exec(said)?.[1])
  return [{ text: 'The sum is ' + (before + added) + ', the first number was ' + first }]
})
await space.agent({ model, memory: { messages: 4 } })
`

/** Even four questions and their answers exceed the four messages that the memory keeps verbatim, so it needs a summary. */
const questions = times(4, 20)

test(`an agent that is killed with kill −9 between each two of ${questions} questions that build on one another answers all of them`, async () => {
  const human = { kind: 'human', capabilities: ['*'] }
  await using gateway = await standing({ participants: { ana: human, bot: ['*'] } })
  const folder = join(import.meta.dirname, '../../dist/test') // The package can be imported from there.
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `adder-${process.pid}.mjs`)
  writeFileSync(path, program)
  const cwd = temporaryFolder()
  await using ana = await connect({
    url: gateway.url,
    space: 'test',
    token: testToken('ana'),
    session: false,
  })
  const heard = recordEnvelopes(ana)
  const env = { ...process.env, MEUP_URL: gateway.url, MEUP_SPACE: 'test', MEUP_TOKEN: testToken('bot') }
  const running = new Set<ChildProcess>()
  onTestFinished(() => {
    for (const child of running) child.kill('SIGKILL')
  })
  let sum = 0
  for (let number = 7; number < 7 + questions; number++) {
    const child = spawn(process.execPath, [path], { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] })
    running.add(child)
    sum += number
    // Every second question is asked before the program has connected.
    if (number % 2 === 0) await ana.whenPresent(['bot'])
    const { id } = await ana.chat(`Add ${number}.`, { mention: 'bot' })
    const answer = await heard.until(({ kind, correlationId }) => kind === Kind.chat && correlationId === id)
    expect(answer.payload).toMatchObject({ message: `The sum is ${sum}, the first number was 7` })
    child.kill('SIGKILL')
    await once(child, 'close')
    running.delete(child)
  }
}, 180_000)
