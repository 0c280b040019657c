import { serveAcp } from '@meup/acp/serve'
import type { SpaceClient, Turn } from '@meup/agent-sdk'
import { HttpClient } from '@meup/agent-sdk/http'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { TestSpaceOptions } from '@meup/gateway/testing'
import type { Capability, Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { onTestFinished } from 'vitest'
import { Editor, streamPair } from './editor.js'

/** Capabilities of an agent that may read files, and must propose other calls. */
export const careful: Capability[] = [
  'chat',
  'reasoning.*',
  { tool: 'files/read' },
  'mcp.proposal',
  'mcp.withdraw',
]

/** Offers tools for files. Returns the list of written paths. */
export function offerFiles(files: SpaceClient) {
  const path = Type.Object({ path: Type.String() })
  const written: string[] = []
  files
    .tool('read', { input: path }, ({ path }) => `what ${path} holds`)
    .tool('fail', {}, () => Promise.reject(new Error('the disk is full')))
    .tool('write', { input: path }, ({ path }) => {
      written.push(path)
      return `wrote ${path}`
    })
  return written
}

/** An ACP client, served on behalf of a participant. */
export async function openEditor(space: SpaceClient, { to, http }: { to?: string; http?: HttpClient } = {}) {
  const [ours, theirs] = streamPair()
  const logged: string[] = []
  const serving = serveAcp(
    {
      space,
      http: http ?? new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' }),
      ...(to !== undefined && { to }),
      log: (line) => logged.push(line),
    },
    theirs,
  )
  onTestFinished(() => serving.close())
  const editor = new Editor(ours)
  onTestFinished(() => editor.close())
  await editor.initialize()
  return { editor, serving, logged }
}

interface StageOptions extends Partial<TestSpaceOptions> {
  /** Capabilities of the editor's user. */
  readonly ana?: readonly Capability[]
}

/** A space with ana, who uses an editor, the agent coder, which uses the tools of `files`, and ben, who may do everything. */
export async function stage({ ana = ['*'], ...options }: StageOptions = {}) {
  const space = await createTestSpace({
    participants: { ana, ben: ['*'], coder: careful, files: ['mcp.*'] },
    ...options,
  })
  onTestFinished(() => space.close())
  const own = await space.join('ana')
  const [ben, coder] = [await space.join('ben'), await space.join('coder')]
  const written = offerFiles(await space.join('files'))
  const { editor, ...rest } = await openEditor(own, { to: 'coder' })
  const { sessionId } = await editor.begin()
  /** Handles the editor's questions as the coder. */
  const answer = (handler: (turn: Turn) => Promise<unknown>): void =>
    void coder.answer(handler, { onError: () => {} })
  const prompt = (text: string) => editor.prompt(sessionId, text)
  return { ...rest, space, ana: own, ben, coder, written, editor, sessionId, answer, prompt }
}

/** A handler that calls a tool in a run, and replies with its result. */
export const useTool = (tool: string, args: object, why: string) => async (turn: Turn) => {
  const said = await turn.reason('Let me see', async (run) => {
    const { text } = await run.call(tool, args, { why }).catch((error: Error) => ({ text: error.message }))
    return text
  })
  await turn.reply(said)
}

/** Waits for the next envelope of this kind that the participant receives. */
export const next = async (space: SpaceClient, kind: Kind) => {
  for await (const envelope of space.envelopes()) if (envelope.kind === kind) return envelope
  throw new Error(`${kind} did not come`)
}

/** Proposes a call outside of any turn. */
export const propose = (agent: SpaceClient, path: string) =>
  agent.propose({
    to: 'files',
    method: 'tools/call',
    params: { name: 'write', arguments: { path } },
    rationale: 'it is time',
  })
