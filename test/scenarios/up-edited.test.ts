import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'

const sdk = JSON.stringify(join(repositoryRoot, 'packages/agent-sdk/dist/index.js'))
const agent = (word: string): string => `
import { connect } from ${sdk}
const space = await connect()
await space.answer((turn) => turn.reply('${word}'))
`
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: process, command: node, args: [bot.mjs] }
  other: { kind: process, command: node, args: [other.mjs] }
`

test('an edited agent answers with its new code within two seconds; the others stay', async () => {
  const folder = temporaryFolder({
    'space.yaml': config,
    'bot.mjs': agent('one'),
    'other.mjs': agent('other'),
  })
  await startMeup('up', folder)
  const ana = await connect({ as: 'ana', directory: folder })
  onTestFinished(() => ana.close())
  await ana.whenPresent(['bot', 'other'])
  const gone: string[] = []
  const answered = new Promise<void>((resolve) => {
    ana.on('envelope', ({ kind, from, payload }: AnyEnvelope) => {
      if (kind === 'chat' && from === 'bot' && payload.message === 'two') resolve()
      if (kind !== 'system.presence') return
      const { event, participant } = payload
      if (event === 'leave') gone.push(participant.id)
      if (event === 'join' && participant.id === 'bot') void ana.chat('Are you there?')
    })
  })
  const began = Date.now()
  writeFileSync(join(folder, 'bot.mjs'), agent('two'))
  await answered
  expect(Date.now() - began).toBeLessThan(2000)
  expect(gone).toEqual(['bot'])
})
