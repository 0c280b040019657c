import { type AgentEvent, type AgentRun, offerTools, runAgent, type Turn } from '@meup/agent-sdk'
import { Agent, type Model, Runner, type RunStreamEvent, tool } from '@openai/agents'

/** Answers a turn with an agent that has the tools of the space. */
export const answerWith = (model: string | Model, instructions: string) => (turn: Turn) =>
  runAgent(turn, (parts) => follow(createAgent(model, instructions, parts), turn.text, parts), {
    metadata: { framework: 'openai-agents' },
  })

function createAgent(model: string | Model, instructions: string, { tools }: AgentRun): Agent {
  const offered = offerTools(tools).map(({ name, description, inputSchema, call }) => {
    const { properties, required = [] } = inputSchema as { properties: object; required?: string[] }
    const parameters = { type: 'object', properties, required, additionalProperties: true } as const
    return tool({ name, description, parameters, strict: false, execute: (input) => call(input) })
  })
  return new Agent({ name: 'reviewer', instructions, model, tools: offered })
}

// By default, what agents do is also sent to OpenAI, for its dashboard.
const runner = new Runner({ tracingDisabled: true })

/** What the model thinks and writes, as it does. */
async function* follow(agent: Agent, question: string, { signal }: AgentRun): AsyncGenerator<AgentEvent> {
  const result = await runner.run(agent, question, { stream: true, signal })
  for await (const event of result) yield* toEvents(event)
  await result.completed
}

function* toEvents(event: RunStreamEvent): Generator<AgentEvent> {
  if (event.type !== 'raw_model_stream_event') return
  const { data } = event
  if (data.type === 'output_text_delta') yield { text: data.delta }
  else if (data.type === 'model' && data.event.type === 'response.reasoning_summary_text.delta')
    yield { thought: data.event.delta }
}
