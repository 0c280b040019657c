import { type AgentEvent, type AgentRun, framingRule, offerTools, runAgent, type Turn } from '@meup/agent-sdk'
import { Agent, type FunctionTool, type Model, Runner, type RunStreamEvent, tool } from '@openai/agents'

/** Parameters of a tool without OpenAI's strict mode: any JSON Schema. */
type Parameters = Extract<FunctionTool['parameters'], { additionalProperties: true }>

/** Answers a turn with an agent of the OpenAI SDK that has the tools of the space. */
export const answerWith = (model: string | Model, instructions: string) => (turn: Turn) =>
  runAgent(turn, (parts) => follow(createAgent(model, instructions, parts), parts), {
    metadata: { framework: 'openai-agents' },
  })

function createAgent(model: string | Model, instructions: string, { tools }: AgentRun): Agent {
  const offered = offerTools(tools).map(({ name, description, inputSchema, call }) => {
    const parameters = inputSchema as unknown as Parameters
    return tool({ name, description, parameters, strict: false, execute: (input) => call(input) })
  })
  const modelSettings = { reasoning: { summary: 'auto' } } as const
  return new Agent({
    name: 'reviewer',
    instructions: `${instructions}\n\n${framingRule}`,
    ...{ model, modelSettings, tools: offered },
  })
}

// Tracing is disabled, because the runner would otherwise send traces to OpenAI's dashboard.
const runner = new Runner({ tracingDisabled: true })

/** Yields the model's thoughts and text as they are generated. */
async function* follow(agent: Agent, { prompt, signal }: AgentRun): AsyncGenerator<AgentEvent> {
  const result = await runner.run(agent, prompt, { stream: true, signal })
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
