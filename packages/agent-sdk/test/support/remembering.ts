import { type AgentOptions, connect, type SpaceClient } from '@meup/agent-sdk'
import { type ScriptedModel, scriptedModel } from '@meup/agent-sdk/ai'
import type { Fetch } from '@meup/agent-sdk/internal'
import type { TestSpaceOptions } from '@meup/gateway/testing'
import { testToken } from '@meup/gateway/testing'
import { onTestFinished } from 'vitest'
import type { Script } from '../model/stage.js'
import { type Standing, standing } from './standing.js'

export interface Program {
  readonly bot: SpaceClient
  readonly model: ScriptedModel
  /** Errors that the agent reported to its operator. */
  readonly troubles: unknown[]
  /** Paths, with queries, of the requests in which the program read pages of the log. */
  readonly pages: string[]
  /** Closes the connection without announcing the end of the program, as if the process was killed. */
  kill(): void
}

interface ProgramOptions extends Partial<AgentOptions> {
  /** Called before each HTTP request, and after its response. Returned promises are awaited. */
  readonly onRequest?: (url: URL) => unknown
  readonly onAnswer?: () => unknown
}

export interface Remembering {
  readonly gateway: Standing
  readonly ana: SpaceClient
  enter(id: string): Promise<SpaceClient>
  /** Starts a program of `bot`: an agent with a scripted model. Without `transcriptStore`, it has no transcript. */
  run(script: Script, options?: ProgramOptions): Promise<Program>
}

/** A gateway on a socket, with ana, bob and bot. Programs of bot can be started and killed. */
export async function remembering(
  options: Partial<Parameters<typeof standing>[0]> & Partial<TestSpaceOptions> = {},
): Promise<Remembering> {
  const many = { kind: 'agent', capabilities: ['*'], programs: 'many' as const }
  const human = { kind: 'human', capabilities: ['*', 'space.erase'] }
  const participants = { ana: human, bob: human, bot: many }
  const gateway = await standing({ participants, ...options })
  onTestFinished(() => gateway.stop())
  const enter = async (id: string, fetch?: Fetch): Promise<SpaceClient> => {
    const client = await connect({
      ...{ url: gateway.url, space: 'test', token: testToken(id), session: false },
      ...(fetch && { fetch }),
    })
    onTestFinished(() => client.close())
    return client
  }
  return {
    gateway,
    ana: await enter('ana'),
    enter,
    async run(script, { onRequest, onAnswer, ...rest } = {}) {
      const [pages, troubles]: [string[], unknown[]] = [[], []]
      const bot = await enter('bot', async (url, init) => {
        await onRequest?.(url)
        pages.push(`${url.pathname}${url.search}`)
        const answer = await fetch(url, init)
        await onAnswer?.()
        return answer
      })
      const model = scriptedModel(script)
      const transcript = rest.transcriptStore === undefined ? { transcript: 'off' as const } : {}
      bot
        .agent({ model, tools: [], ...transcript, onError: (error) => troubles.push(error), ...rest })
        .catch(() => {})
      return { bot, model, troubles, pages, kill: () => bot.close() }
    },
  }
}

/** The texts of a request to the model, without the system prompt. */
export const promptOf = ({ model }: Pick<Program, 'model'>, index = model.requests.length - 1): string[] =>
  (model.requests[index]?.prompt ?? [])
    .slice(1)
    .map(({ content }) => (content as readonly { readonly text: string }[])[0]?.text ?? '')

/** All requests to a model as JSON. */
export const allSent = ({ model }: Pick<Program, 'model'>): string => JSON.stringify(model.requests)
