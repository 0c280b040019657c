import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, vi } from 'vitest'
import { temporaryFolder } from './cli.js'
import { runSpace } from './space.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*", observe.targeted] }
  ben: { kind: human, capabilities: [chat] }
  bot: { kind: agent, capabilities: [chat, "reasoning.*", mcp.request] }
  shop: { kind: agent, capabilities: [mcp.response] }
`

/** Sends a request to the gateway of this folder as Ana, which does not make her present. */
export async function ask(
  url: string,
  cwd: string,
  path: string,
  accept = 'application/json',
): Promise<string> {
  const token = readFileSync(join(cwd, '.meup/tokens/ana'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, accept }
  const response = await fetch(`${url}/spaces/demo/${path}`, { headers })
  if (!response.ok) throw new Error(await response.text())
  return response.text()
}

/** Waits until the log shows that everyone has left. */
export async function alone(url: string, cwd: string): Promise<void> {
  const look = async () => expect(await ask(url, cwd, 'participants')).not.toContain('"present"')
  await vi.waitFor(look, { timeout: 40_000, interval: 20 })
}

/**
 * Makes a folder with a running space in which people, an agent and a tool have talked. They have left; one run is unfinished.
 */
export async function recordedSpace() {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const { url } = await runSpace(cwd)
  const enter = (as: string) => connect({ as, directory: cwd })
  const [ana, bot, shop] = [await enter('ana'), await enter('bot'), await enter('shop')]
  shop.serve(async () => ({ result: { content: [{ type: 'text', text: 'one apple' }] } }))
  await bot.whenPresent(['shop'])
  const turns = bot.turns()
  await ana.chat('Is there an apple?')
  const { value: turn } = await turns.next()
  const run = await turn.reason('Looking for an apple')
  await run.thought(`my key is ${['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')}`)
  await run.call('shop/buy', { what: 'apple é 😀' }, { why: 'nobody has one' })
  await run.conclude('There is one')
  await turn.reply('Yes.')
  await ana.chat('between us', { to: ['bot'] })
  await bot.reason('Thinking on')
  for (const seat of [ana, bot, shop]) seat.close()
  await alone(url, cwd)
  return { cwd, url }
}
