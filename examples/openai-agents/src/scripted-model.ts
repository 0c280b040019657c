import { type AgentInputItem, type Model, type ModelRequest, type StreamEvent, Usage } from '@openai/agents'

/** One answer of a scripted model: a thought, then a text, then tool calls. */
export interface Step {
  readonly thought?: string
  readonly text?: string
  readonly calls?: readonly { readonly name: string; readonly args: object }[]
}

/** Chooses the model's next step. `results`: the tool results since the last question. */
export type Script = (results: readonly string[], signal?: AbortSignal) => Step | Promise<Step>

type Done = Extract<StreamEvent, { type: 'response_done' }>['response']

/** A model that answers by a script, word by word. */
export const scriptedModel = (script: Script): Model => ({
  getResponse: () => Promise.reject(new Error('a scripted model only streams')),

  async *getStreamedResponse({ input, signal }: ModelRequest): AsyncGenerator<StreamEvent> {
    const results = typeof input === 'string' ? [] : input.flatMap(resultOf)
    const { thought, text, calls = [] } = await script(results, signal)
    yield { type: 'response_started' }
    for (const delta of toWords(thought)) {
      signal?.throwIfAborted()
      yield { type: 'model', event: { type: 'response.reasoning_summary_text.delta', delta } }
    }
    for (const delta of toWords(text)) {
      signal?.throwIfAborted()
      yield { type: 'output_text_delta', delta }
    }
    const id = `step_${results.length}`
    const output: Done['output'] = calls.map(({ name, args }, index) => {
      const callId = `${id}_${index}`
      return { type: 'function_call', callId, name, status: 'completed', arguments: JSON.stringify(args) }
    })
    if (text) {
      const content = [{ type: 'output_text' as const, text }]
      output.unshift({ type: 'message', role: 'assistant', status: 'completed', content })
    }
    yield { type: 'response_done', response: { id, usage: new Usage(), output } }
  },
})

const toWords = (text = ''): string[] => text.match(/\S+\s*/g) ?? []

function resultOf(item: AgentInputItem): string[] {
  if (item.type !== 'function_call_result') return []
  const { output } = item
  return [typeof output === 'string' ? output : 'text' in output ? output.text : '']
}
