import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, test } from 'vitest'
import { initSpace, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { printedBy } from '../support/page-programs.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

const snippets = snippetsOf('docs/memory.md')

test('the programs of the page print what it says', { timeout: 120_000 }, () => {
  const clone = temporaryFolder({ 'package.json': '{"type":"module"}' })
  symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'))
  writeSnippets(
    snippets.filter(({ language }) => language === 'ts'),
    clone,
  )
  const outputs = snippets.filter(({ language }) => language === 'text')
  expect(outputs).toHaveLength(5)
  for (const { file = '', text } of outputs) expect([file, printedBy(clone, file)]).toEqual([file, text])
})

const agent = `
import { connect } from '@meup/agent-sdk'
import { scriptedModel } from '@meup/agent-sdk/ai'

await using space = await connect()
const model = scriptedModel(({ prompt }) => [{ text: JSON.stringify(prompt).includes('Zoe') ? 'Zoe.' : 'I do not know.' }])
await space.agent({ model, tools: [] })
`

test('an agent that "meup up" restarts, as its file was saved, remembers', { timeout: 120_000 }, async () => {
  const folder = await initSpace('hello')
  writeFileSync(join(folder, 'agent.ts'), agent)
  const { url } = await startMeup('up', folder)
  await using ana = await connect({ url, space: 'demo', as: 'ana', directory: folder })
  await ana.whenPresent(['reviewer'])
  expect((await ana.ask('What is my name?')).text).toBe('I do not know.')
  expect((await ana.ask('My name is Zoe.')).text).toBe('Zoe.')
  const back = new Promise<void>((resolve) => {
    ana.on('envelope', ({ kind, payload }) => {
      const { event, participant } = payload as { event?: string; participant?: { id: string } }
      if (kind === 'system.presence' && event === 'join' && participant?.id === 'reviewer') resolve()
    })
  })
  writeFileSync(join(folder, 'agent.ts'), `${agent}// Saved.\n`)
  await back
  expect((await ana.ask('What is my name?')).text).toBe('Zoe.')
})
