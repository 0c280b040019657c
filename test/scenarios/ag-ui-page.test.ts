import { spawn } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, onTestFinished, test } from 'vitest'
import { environment, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

const snippets = snippetsOf('docs/ag-ui.md')
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  helper: { kind: agent, capabilities: [chat, "reasoning.*", mcp.proposal] }
  shop: { kind: agent, capabilities: [mcp.response] }
`

/** Opens a space with a shop, and an agent that buys on request, but may only propose the purchase. */
async function openSpace() {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const { url } = await startMeup('gateway', cwd)
  const enter = async (as: string) => {
    const space = await connect({ as, directory: cwd })
    onTestFinished(() => space.close())
    return space
  }
  const shop = await enter('shop')
  shop.serve(async ({ payload: { params } }) => {
    const { what } = (params?.arguments ?? {}) as { what?: string }
    return { result: { content: [{ type: 'text', text: `${what} for you` }] } }
  })
  const helper = await enter('helper')
  const serve = async (): Promise<void> => {
    for await (const turn of helper.turns()) {
      await using run = await turn.reason('Shopping')
      await run.thought('The shop has it')
      const { text } = await run.call('shop/buy', { what: turn.text }, { why: 'the user asked for it' })
      await run.conclude('Bought')
      await turn.reply(`Bought: ${text}`)
    }
  }
  const served = serve()
  onTestFinished(async () => {
    helper.close()
    await served
  })
  return { cwd, url }
}

/** Runs a program, and waits for its end. */
function run(file: string, cwd: string, env: Record<string, string>): Promise<string> {
  const program = spawn(process.execPath, [file], { cwd, env: environment(env) })
  const said: Buffer[] = []
  program.stdout.on('data', (chunk: Buffer) => said.push(chunk))
  program.stderr.on('data', (chunk: Buffer) => said.push(chunk))
  return new Promise((resolve) => program.on('close', () => resolve(Buffer.concat(said).toString())))
}

test('the program of the page shows a turn, approves what was proposed, and prints what the page says', async () => {
  const { cwd, url } = await openSpace()
  writeSnippets(snippets, cwd)
  symlinkSync(join(repositoryRoot, 'packages/ag-ui/node_modules'), join(cwd, 'node_modules'))
  const token = readFileSync(join(cwd, '.meup/tokens/ana'), 'utf8').trim()
  const output = await run('ask.mjs', cwd, { MEUP_URL: url, MEUP_TOKEN: token })
  const printed = snippets.find(({ language }) => language === 'text')?.text ?? ''
  const [actual, expected] = [output, printed].map((text) =>
    text.replaceAll(/(?<="(?:context|expiresAt)": )".+"/g, '"…"'),
  )
  expect(actual).toBe(expected)
})
