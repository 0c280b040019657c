import { cut } from '@meup/folds'
import { setLongTimeout } from '../client/long-timeout.js'
import type { LiveText } from './deltas.js'
import { agentErrors } from './errors.js'
import { frameMessage } from './frame-message.js'
import type { Reasoning } from './reasoning.js'
import type { CallableTool } from './space-tools.js'
import { ThoughtStream } from './thought-stream.js'
import type { Turn } from './turn.js'
import { untilAborted } from './turns.js'

/** A streamed event of a framework's agent: a piece of its reasoning, or of its answer's text. */
export type AgentEvent = { readonly thought: string } | { readonly text: string }

/** Maximum characters of a call's reason that is taken from the agent's text. */
const maxReasonChars = 300

/** The input of a framework's agent for a turn. */
export interface AgentRun {
  /** The question, formatted by `frameMessage`. */
  readonly prompt: string
  /**
   * The tools that the agent may call or propose; `offerTools` converts them for models. Calls belong to the run. The default
   * of `why` is the agent's preceding text.
   */
  readonly tools: readonly CallableTool[]
  /** Aborted with the turn. Pass it to the framework. */
  readonly signal: AbortSignal
  readonly run: Reasoning
}

export interface RunAgentOptions {
  /**
   * Selects the offered tools with patterns of `participant/tool`, such as `files/read_*`; default: all tools of participants
   * of kind `mcp`.
   */
  readonly tools?: readonly string[]
  /** Metadata of the run, such as `{ model: 'gpt-5' }`. */
  readonly metadata?: object
}

/**
 * Answers a turn with an agent of any framework: its reasoning becomes thoughts, and its text the answer, shown live. Text
 * before a tool call becomes a thought. Rejects with the error of the agent, or if it returns no text.
 */
export async function runAgent(
  turn: Turn,
  agent: (parts: AgentRun) => AsyncIterable<AgentEvent>,
  { tools: choices, metadata }: RunAgentOptions = {},
): Promise<void> {
  const live = turn.write()
  try {
    const about = metadata === undefined ? {} : { metadata }
    let text = ''
    await turn.reason(
      undefined,
      async (run) => {
        text = await follow(run, { prompt: frameMessage(turn), agent, live, choices })
        await run.conclude()
      },
      about,
    )
    live.close()
    await turn.reply(text, { format: 'markdown' })
  } finally {
    live.close()
  }
}

interface Followed {
  readonly prompt: string
  readonly agent: (parts: AgentRun) => AsyncIterable<AgentEvent>
  readonly live: LiveText
  readonly choices: readonly string[] | undefined
}

/** Publishes the agent's events. Returns the text of the answer. */
async function follow(run: Reasoning, { prompt, agent, live, choices }: Followed): Promise<string> {
  const onError = (error: unknown): void => {
    if (!run.signal.aborted) console.error('a thought could not be sent:', error)
  }
  const thoughts = new ThoughtStream((text) => run.thought(text), setLongTimeout, onError)
  let text = ''
  /** The agent's text before the pending calls, which is their default reason, and the number of these calls. */
  let [said, calls] = ['', 0]
  let telling = Promise.resolve()
  /** Sends thoughts and text that precede a call before the call itself, also if calls are concurrent. */
  const beforeCall = async (): Promise<void> => {
    await lookAtEvents()
    const written = text.trim()
    if (written !== '') said = written
    text = ''
    live.restart()
    telling = telling.then(async () => {
      await thoughts.end()
      if (written !== '') await run.thought(written).catch(onError)
    })
    await telling
  }
  const tools = (await run.tools(choices)).map(
    (tool): CallableTool => ({
      ...tool,
      call: async (args, { why, ...options } = {}) => {
        calls++
        try {
          await beforeCall()
          const reason = why ?? cut(said, maxReasonChars)
          return await tool.call(args, { ...options, ...(reason !== '' && { why: reason }) })
        } finally {
          if (--calls === 0) said = ''
        }
      },
    }),
  )
  try {
    for await (const event of untilAborted(agent({ prompt, tools, signal: run.signal, run }), run.signal)) {
      if ('thought' in event) thoughts.push(event.thought)
      else {
        text += event.text
        live.push(event.text)
      }
    }
  } finally {
    await thoughts.end()
  }
  if (text.trim() === '') throw agentErrors.emptyAnswer()
  return text.trim()
}

/** Waits until queued promises have settled: frameworks call a tool before earlier events have been delivered. */
const lookAtEvents = (): Promise<void> => new Promise((resolve) => setLongTimeout(0, resolve))
