import { cut } from '@meup/folds'
import { setLongTimeout } from '../client/wait.js'
import type { LiveText } from './deltas.js'
import { frameMessage } from './frame-message.js'
import type { Reasoning } from './reasoning.js'
import type { CallableTool } from './space-tools.js'
import { ThoughtStream } from './thought-stream.js'
import type { Turn } from './turn.js'
import { untilAborted } from './turns.js'

/** What an agent of some framework does, as it does it: it thinks, or writes its answer. Pieces of any size. */
export type AgentEvent = { readonly thought: string } | { readonly text: string }

/** Characters of a reason that is taken from what was said. */
const maxReasonChars = 300

/** What an agent of a framework gets for a turn. */
export interface AgentRun {
  /** What was asked, as a model is to read it: see `frameMessage`. */
  readonly prompt: string
  /** The tools that it may call or propose, for models: `offerTools`. Calls are part of the run; without `why`, the reason is what it said before. */
  readonly tools: readonly CallableTool[]
  /** Aborted when the turn is: hand it to the framework. */
  readonly signal: AbortSignal
  readonly run: Reasoning
}

export interface RunAgentOptions {
  /** Which tools it gets, as in `SpaceClient.tools`. */
  readonly tools?: readonly string[]
  /** Of the run, such as `{ model: 'gpt-5' }`. */
  readonly metadata?: object
}

/**
 * Answers a turn with an agent of any framework: what it thinks becomes thoughts, its text is the answer, shown as it is
 * written. Text that it writes before it calls a tool is a thought. Rejects with what the agent throws, and where it gives no text.
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

/** The text of the answer. */
async function follow(run: Reasoning, { prompt, agent, live, choices }: Followed): Promise<string> {
  const onError = (error: unknown): void => {
    if (!run.signal.aborted) console.error('a thought could not be sent:', error)
  }
  const thoughts = new ThoughtStream((text) => run.thought(text), setLongTimeout, onError)
  let text = ''
  /** What it wrote before the calls that are being made, and how many these are. */
  let [said, calls] = ['', 0]
  let telling = Promise.resolve()
  /** What was thought and written before a call comes before it, also before one that is made at the same time. */
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
  if (text.trim() === '') throw new Error('the agent gave no answer')
  return text.trim()
}

/** Frameworks call tools while their events are still on their way through queues of promises: those come first. */
const lookAtEvents = (): Promise<void> => new Promise((resolve) => setLongTimeout(0, resolve))
