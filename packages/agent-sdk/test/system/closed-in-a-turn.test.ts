import { spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/support/cli.js'
import { repositoryRoot } from '../../../../test/support/files.js'

/** A program that closes its space during a turn. `deed`: an action of its model that never ends. */
const program = (deed: string) => `
import { scriptedModel } from '@meup/agent-sdk/ai'
import { createTestSpace } from '@meup/agent-sdk/testing'

const never = () => new Promise(() => {})
const space = await createTestSpace({ participants: { ana: ['*'], bot: ['*'], desk: { kind: 'mcp', capabilities: ['*'] } } })
const [ana, bot, desk] = [await space.join('ana'), await space.join('bot'), await space.join('desk')]
desk.tool('wait', {}, never)
let begun = () => {}
const second = new Promise((resolve) => { begun = resolve })
const model = scriptedModel((_, index) => (index === 0 ? [{ text: 'yes' }] : [{ wait: () => void begun() }, ${deed}]))
void bot.agent({ model, transcript: 'off' })
await ana.ask('one?')
void ana.ask('two?').catch(() => {})
await second
await new Promise((resolve) => setImmediate(resolve))
await space.close()
console.log('closed')
`

test.for([
  ['that says nothing', '{ wait: never }'],
  ['that has begun to think', "{ reasoning: 'hm' }, { wait: never }"],
  ['that has begun to answer', "{ text: 'well' }, { wait: never }"],
  ['whose tool does not answer', "{ call: 'desk__wait', input: {} }"],
])('a program ends that closes its space in a turn of a model %s', ([, deed = '']) => {
  const folder = temporaryFolder({ 'package.json': '{"type":"module"}', 'program.mjs': program(deed) })
  symlinkSync(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'))
  const { status, stdout } = spawnSync(process.execPath, ['program.mjs'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
  })
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'closed\n' })
})
