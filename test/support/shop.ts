import { connect, type SpaceClient } from '@meup/agent-sdk'
import { expect, onTestFinished } from 'vitest'
import { meup, type Outcome, temporaryFolder } from './cli.js'
import { runSpace } from './space.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*", observe.targeted] }
  helper: { kind: agent, capabilities: [chat, mcp.proposal, mcp.withdraw] }
  guard: { kind: agent, capabilities: [mcp.reject, { tool: shop/buy }, capability.grant] }
  shop: { kind: agent, capabilities: [mcp.response] }
`
export const within = { timeout: 40_000, interval: 20 }

/** Opens a running space with a shop that sells on request. */
export async function openShop() {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const running = await runSpace(cwd)
  const enter = async (as: string): Promise<SpaceClient> => {
    const space = await connect({ as, directory: cwd })
    onTestFinished(() => space.close())
    return space
  }
  const shop = await enter('shop')
  shop.serve(async ({ payload: { params } }) => {
    const { what } = (params?.arguments ?? {}) as { what?: string }
    if (what === 'nothing')
      return { result: { isError: true, content: [{ type: 'text', text: 'sold out' }] } }
    return { result: { content: [{ type: 'text', text: `one ${what}` }] } }
  })
  /** Runs `meup`, as `ana` by default. */
  const run = (...args: string[]): Promise<Outcome> => meup(args, { cwd })
  return { cwd, running, enter, run }
}

export type Shop = Awaited<ReturnType<typeof openShop>>

/** Parses the `--json` output of a command that must have succeeded. */
export const linesOf = ({ code, stdout, stderr }: Outcome): Record<string, unknown>[] => {
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}
