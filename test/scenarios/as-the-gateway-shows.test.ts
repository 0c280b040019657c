import { connect, type SpaceClient } from '@meup/agent-sdk'
import { expect, onTestFinished } from 'vitest'
import { commandLine, temporaryFolder } from '../support/cli.js'
import { runSpace } from '../support/space.js'
import { inTmux, openPane, type Pane } from '../support/tmux.js'
import { verifies } from '../verifies.js'

/** The configuration of a space with a rule of its own: badge numbers are secrets. */
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
safety: { rules: [{ name: badge, pattern: "BDG-[0-9]{8}", keywords: [bdg-] }] }
participants:
  ana: { kind: human, capabilities: ["*"] }
  ben: { kind: human, capabilities: [chat] }
  bot: { kind: agent, capabilities: [chat, "reasoning.*", mcp.request] }
  tools: { kind: agent, capabilities: [mcp.response] }
`
const badge = 'BDG-12345678'
const timeout = 60_000

async function badgeSpace() {
  const cwd = temporaryFolder({ 'space.yaml': config })
  await runSpace(cwd)
  const enter = async (as: string): Promise<SpaceClient> => {
    const seat = await connect({ as, directory: cwd })
    onTestFinished(() => seat.close())
    return seat
  }
  const [bot, ben, tools] = [await enter('bot'), await enter('ben'), await enter('tools')]
  tools.serve(async () => ({ result: { content: [{ type: 'text', text: `${badge} opens the door` }] } }))
  const join = async (): Promise<Pane> => {
    const pane = openPane(commandLine('join --reasoning'), { cwd, columns: 100, env: { NO_COLOR: '1' } })
    await pane.sees('you are ana')
    return pane
  }
  return { bot, ben, join }
}

verifies(
  ['I17', 'I20'],
  'what a terminal shows of results, and of calls afterwards, is masked by the rules of the space',
  inTmux(async () => {
    const { bot, ben, join } = await badgeSpace()
    const ana = await join()
    void bot.answer(async (turn) => {
      await using run = await turn.reason('I try the door')
      await run.call('tools/open', { with: badge }, { why: `it is locked for ${badge}` })
      await run.conclude()
      await turn.reply('It is open.')
    })
    await ben.ask('Is the door open?')
    await ana.sees('▸ [redacted:badge] opens the door')
    await ana.sees('params: { "with": "[redacted:badge]" }')
    await ana.sees('→ success (27 chars)')
    await ana.sees('"it is locked for [redacted:badge]"')
    // The line of the call shows the unmasked badge once, because the gateway relays MCP payloads unchanged.
    expect(ana.all().split(badge)).toHaveLength(2)
    expect(ana.all()).toContain(`● open ${badge} — it is locked for [redacted:badge] ✓`)
  }),
  { timeout },
)

verifies(
  'I15',
  'a turn that began before one joined has its block when it is cancelled',
  inTmux(async () => {
    const { bot, ben, join } = await badgeSpace()
    const { id: correlationId } = await ben.chat('Is the door open?')
    const run = await bot.send({ kind: 'reasoning.start', correlationId, payload: { message: 'I try it' } })
    const request = {
      kind: 'mcp.request',
      to: ['tools'],
      context: run.id,
      rationale: 'it is locked',
      payload: { method: 'tools/call', params: { name: 'open', arguments: {} } },
    } as const
    const heard = ben.envelopes()
    await bot.send(request)
    for await (const { kind } of heard) if (kind === 'mcp.response') break
    const ana = await join()
    await ana.sees(/bot {2}○ Thinking/)
    await bot.send({ kind: 'reasoning.cancel', context: run.id, payload: { reason: 'it is too heavy' } })
    await ana.sees('it is too heavy')
    await ana.sees('Reasoning (turn 1)')
    await ana.sees('"it is locked"')
    await ana.sees('→ success (27 chars)')
    await ana.shows((screen) => expect(screen).not.toMatch(/bot {2}○ Thinking/))
  }),
  { timeout },
)
