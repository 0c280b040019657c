/** Runs the library, and uses it from a client that knows only MCP. Exits with 1 if a result is not as expected. */
import { deepEqual, equal } from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { connect } from '@meup/agent-sdk'
import { loadConfig, operatorLog, up } from 'meup'
import { openClient } from './client.js'

const directory = fileURLToPath(new URL('..', import.meta.url))
const config = loadConfig(`${directory}/space.yaml`)
const running = await up({ ...config, gateway: { ...config.gateway, port: 0 } }, operatorLog('warn'))
try {
  await everybodyIsThere()
  await using client = await openClient(directory, (form) => {
    const [question, why] = form.split('\n')
    console.log(`  the client shows a form: ${question}\n  ${why}\n  its user approves`)
    return 'approve'
  })
  await ask('Is there a book about bee?', 'The Life of the Bee')
  deepEqual(client.forms, [])
  await ask('Lend one about voyage for Ada', 'The Voyage of the Beagle is lent to Ada')
  equal(client.forms.length, 1)

  async function ask(message: string, expected: string): Promise<void> {
    console.log(`\ndesktop: ${message}`)
    const { answer, reasoning } = await client.ask(message, (thought) => console.log(`  ┄ ${thought}`))
    equal(answer, expected)
    console.log(`librarian: ${answer}\n\n${reasoning}: ${await client.read(reasoning)}`)
  }
  console.log('\nEvery step was as expected.')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await running.close()
}

async function everybodyIsThere(): Promise<void> {
  await using desktop = await connect({ url: running.url, space: 'library', as: 'desktop', directory })
  await desktop.whenPresent(['librarian', 'shelf'])
}
