import { connect, type SpaceClient, type Turn } from '@meup/agent-sdk'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './cli.js'
import { runSpace } from './space.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  ben: { kind: human, capabilities: [chat] }
  bot: { kind: agent, capabilities: [chat, "reasoning.*", mcp.request] }
  aide: { kind: agent, capabilities: [chat, "reasoning.*", mcp.request] }
  tools: { kind: agent, capabilities: [mcp.response] }
`
const documents = { documents: [{ id: 'one' }, { id: 'two' }, { id: 'three' }] }
const results: Record<string, Record<string, unknown>> = {
  memory_search: { structuredContent: documents, content: [{ type: 'text', text: 'Found 3 documents' }] },
  shell: { content: [{ type: 'text', text: 'x'.repeat(142) }] },
  file_read: { isError: true, content: [{ type: 'text', text: 'no such file' }] },
}

/** The question in the terminal example of the document `reasoning-summary` (see `test/requirements`). */
export const updates = 'search for recent project updates'

/** The agent's reaction to each question. */
const doings: Record<string, (turn: Turn) => Promise<unknown>> = {
  'what time is it?': async (turn) => {
    await using run = await turn.reason('Looking at the clock')
    await run.call('tools/shell', { command: 'date' }, { why: 'retrieved the current time' })
    await run.conclude()
    return turn.reply('It is late.')
  },
  thanks: (turn) => turn.reply('You are welcome!'),
  'what is wrong?': async (turn) => {
    await using run = await turn.reason()
    await run.thought("I'll look in both places.")
    await run
      .parallel([
        { tool: 'tools/memory_search', args: { query: 'auth design' }, why: 'searching memory' },
        { tool: 'tools/file_read', args: { path: 'auth.ts', token: 'hunter2' }, why: 'reading the source' },
      ])
      .catch(() => {}) // The second call fails on purpose.
    await run.conclude()
    return turn.reply('The file is missing.')
  },
  [updates]: async (turn) => {
    await using run = await turn.reason()
    const query = { query: 'recent project updates', limit: 5 }
    await run.call('tools/memory_search', query, { why: "searched memory for 'recent project updates'" })
    const command = { command: 'git log --oneline -10' }
    await run.call('tools/shell', command, { why: 'ran git log to check recent commits' })
    await run.conclude()
    return turn.reply('The latest updates include: none.')
  },
}
export const questions: readonly string[] = Object.keys(doings)

/** Opens a space in which `bot` answers `questions`, `aide` answers its own, and `tools` offers the tools that they call. */
export async function openAsked() {
  const cwd = temporaryFolder({ 'space.yaml': config })
  await runSpace(cwd)
  const enter = async (as: string): Promise<SpaceClient> => {
    const space = await connect({ as, directory: cwd })
    onTestFinished(() => space.close())
    return space
  }
  const tools = await enter('tools')
  tools.serve(async ({ payload: { params } }) => ({ result: results[String(params?.name)] ?? {} }))
  const answer = async (turn: Turn): Promise<void> => void (await doings[turn.text]?.(turn))
  void (await enter('bot')).answer(answer, { answers: ({ to }) => to === undefined })
  void (await enter('aide')).answer(answer, { answers: ({ to }) => to?.includes('aide') === true })
  return { cwd, ben: await enter('ben') }
}

/** Opens the space, and lets `bot` answer four questions. */
export async function afterFour() {
  const space = await openAsked()
  for (const question of questions) await space.ben.ask(question)
  return space
}

/**
 * Output of a terminal from the answer to `updates` on. Line `→` has the size of a result if the client received the result.
 */
export const wireframe = (turn: number): string => `bot: The latest updates include: none.

  ┄ Reasoning (turn ${turn})
  ┄ memory_search  "searched memory for 'recent project updates'"
    params: { "query": "recent project updates", "limit": 5 }
    → 3 documents found
  ┄ shell  "ran git log to check recent commits"
    params: { "command": "git log --oneline -10" }
    → success (142 chars)
`
