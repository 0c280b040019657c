import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { type AgentEvent, type AgentRun, framingRule, offerTools, runAgent, type Turn } from '@meup/agent-sdk'

/** Answers a turn with a graph of two nodes: a model that thinks, and the tools of the space that it calls. */
export const answerWith = (model: BaseChatModel, instructions: string) => (turn: Turn) =>
  runAgent(turn, (parts) => follow(createGraph(model, instructions, parts), parts), {
    metadata: { framework: 'langgraph' },
  })

function createGraph(model: BaseChatModel, instructions: string, { tools }: AgentRun) {
  const offered = offerTools(tools).map(({ name, description, inputSchema, call }) =>
    tool((input) => call(input), { name, description, schema: inputSchema }),
  )
  const thinking = model.bindTools?.(offered) ?? model
  const system = new SystemMessage(`${instructions}\n\n${framingRule}`)
  return new StateGraph(MessagesAnnotation)
    .addNode('think', async ({ messages }) => ({ messages: [await thinking.invoke([system, ...messages])] }))
    .addNode('tools', new ToolNode(offered))
    .addEdge(START, 'think')
    .addConditionalEdges('think', toolsCondition, ['tools', END])
    .addEdge('tools', 'think')
    .compile()
}

/** Yields the model's thoughts and text as they are generated. */
async function* follow(
  graph: ReturnType<typeof createGraph>,
  { prompt, signal }: AgentRun,
): AsyncGenerator<AgentEvent> {
  const messages = [{ role: 'user', content: prompt }]
  for await (const [message] of await graph.stream({ messages }, { streamMode: 'messages', signal })) {
    if (!AIMessageChunk.isInstance(message)) continue
    if ('output' in message.response_metadata) continue // OpenAI ends with the whole response once more.
    for (const block of message.contentBlocks) {
      if (block.type === 'reasoning') yield { thought: block.reasoning }
      else if (block.type === 'text') yield { text: block.text }
    }
  }
}
