import type { ModelReply } from './model-server.js'

/** A response of the model, with its parts in the order of the fields. */
export interface ScriptedResponse {
  readonly thought?: string
  readonly text?: string
  readonly call?: ScriptedCall
}

interface ScriptedCall {
  readonly name: string
  /** Arguments; a string for a tool that does not take JSON. */
  readonly args: object | string
  readonly namespace?: string
}

type Item = Readonly<Record<string, unknown>> & { readonly id: string }
type Event = Readonly<Record<string, unknown>> & { readonly type: string }

/** Encodes responses as streams of OpenAI's Responses API, one after the other, for `serveModel`. */
export const toReplies = (script: readonly ScriptedResponse[]): ModelReply[] =>
  script.map((response, step) => toReply(response, step))

/** Encodes one response. `step`: a number that is unique in the conversation. */
export const toReply = (response: ScriptedResponse, step: number): ModelReply => ({
  body: toEvents(response, step).map(
    (event, index) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`,
  ),
})

function toEvents({ thought, text, call }: ScriptedResponse, step: number): Event[] {
  const items = [
    ...(thought === undefined ? [] : [reasoning(`rs_${step}`, thought)]),
    ...(text === undefined ? [] : [message(`msg_${step}`, text)]),
    ...(call === undefined ? [] : [toCall(step, call)]),
  ]
  const details = {
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, ...details }
  const about = { id: `resp_${step}`, object: 'response', created_at: 1, model: 'script', usage }
  const output = items.map(({ item }) => item)
  return [
    { type: 'response.created', response: { ...about, status: 'in_progress', output: [] } },
    ...items.flatMap(({ item, empty, events }, output_index): Event[] => [
      { type: 'response.output_item.added', output_index, item: { ...item, ...empty } },
      ...events.map((event) => ({ ...event, item_id: item.id, output_index })),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: { ...about, status: 'completed', output } },
  ]
}

interface Part {
  readonly item: Item
  /** The item without its content, as the event that announces it has it. */
  readonly empty: object
  readonly events: readonly Event[]
}

const toWords = (text: string): string[] => text.match(/\S+\s*/g) ?? []

function reasoning(id: string, text: string): Part {
  const type = 'response.reasoning_summary_text'
  const part = { type: 'summary_text', text: '' }
  return {
    item: { type: 'reasoning', id, summary: [{ ...part, text }] },
    empty: { summary: [] },
    events: [
      { type: 'response.reasoning_summary_part.added', summary_index: 0, part },
      ...toWords(text).map((delta) => ({ type: `${type}.delta`, summary_index: 0, delta })),
      { type: `${type}.done`, summary_index: 0, text },
    ],
  }
}

function message(id: string, text: string): Part {
  const part = { type: 'output_text', text: '', annotations: [] }
  const content = [{ ...part, text }]
  return {
    item: { type: 'message', id, role: 'assistant', status: 'completed', content },
    empty: { content: [] },
    events: [
      { type: 'response.content_part.added', content_index: 0, part },
      ...toWords(text).map((delta) => ({ type: 'response.output_text.delta', content_index: 0, delta })),
      { type: 'response.output_text.done', content_index: 0, text },
    ],
  }
}

const toCall = (step: number, { name, args, ...namespace }: ScriptedCall): Part =>
  typeof args === 'string'
    ? customCall(`ctc_${step}`, name, args)
    : functionCall(`fc_${step}`, { name, ...namespace }, JSON.stringify(args))

function functionCall(id: string, tool: object, json: string): Part {
  const type = 'response.function_call_arguments'
  return {
    item: { type: 'function_call', id, call_id: `call_${id}`, ...tool, arguments: json, status: 'completed' },
    empty: { arguments: '' },
    events: [
      { type: `${type}.delta`, delta: json },
      { type: `${type}.done`, arguments: json },
    ],
  }
}

function customCall(id: string, name: string, input: string): Part {
  const type = 'response.custom_tool_call_input'
  return {
    item: { type: 'custom_tool_call', id, call_id: `call_${id}`, name, input, status: 'completed' },
    empty: { input: '' },
    events: [
      { type: `${type}.delta`, delta: input },
      { type: `${type}.done`, input },
    ],
  }
}
