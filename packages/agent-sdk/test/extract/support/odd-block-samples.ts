import {
  anthropicStream,
  block,
  created,
  item,
  message,
  response,
  textEvents,
  thinkingDeltas,
} from './blocks.js'
import { answer, found, pieces, type Sample, thought, weather, weatherJson } from './sample.js'

const signed = { type: 'thinking', thinking: thought, signature: 'c2ln' }
const begun = { type: 'thinking', thinking: '', signature: '' }

const cutThought: Sample = {
  name: 'Anthropic: a thought that reached the limit',
  whole: message([signed], 'max_tokens'),
  stream: anthropicStream('max_tokens', block(0, begun, ...thinkingDeltas(signed))),
  expected: found({
    format: 'anthropic',
    source: 'thinking',
    text: '',
    opaque: [signed],
    truncated: true,
    tokens: 18,
  }),
  outputTokens: 30,
}

const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'Ulm' } }
const results = {
  type: 'web_search_tool_result',
  tool_use_id: 'srv_1',
  content: [{ type: 'web_search_result', title: 'Ulm', encrypted_content: 'ZW5j' }],
}
const cited = { type: 'text', text: answer, citations: [{ type: 'page', cited_text: 'Ulm' }] }
const next = { type: 'thinking', thinking: '', signature: 'bmV4dA==' }

const serverTools: Sample = {
  name: 'Anthropic: tools of its own and citations between thoughts, pings, calls without arguments',
  whole: message(
    [
      signed,
      search,
      results,
      next,
      cited,
      { type: 'tool_use', id: 'call_1', name: 'weather', input: weather.arguments },
      { type: 'tool_use', id: 'call_2', name: 'now', input: {} },
    ],
    'tool_use',
  ),
  stream: anthropicStream(
    'tool_use',
    block(0, begun, ...thinkingDeltas(signed)),
    [{ type: 'ping' }],
    block(1, { ...search, input: {} }, { type: 'input_json_delta', partial_json: '{"query":"Ulm"}' }),
    block(2, results),
    block(
      3,
      begun,
      { type: 'signature_delta', signature: 'bmV4' },
      { type: 'signature_delta', signature: 'dA==' },
    ),
    block(
      4,
      { type: 'text', text: '', citations: [] },
      ...pieces(answer).flatMap((text) => [
        { type: 'citations_delta', citation: { cited_text: 'Ulm' } },
        { type: 'text_delta', text },
      ]),
    ),
    block(
      5,
      { type: 'tool_use', id: 'call_1', name: 'weather', input: {} },
      ...pieces(weatherJson).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    ),
    block(7, { type: 'tool_use', id: 'call_2', name: 'now', input: {} }),
  ),
  expected: found({
    format: 'anthropic',
    source: 'thinking',
    toolCalls: [weather, { id: 'call_2', name: 'now', arguments: {} }],
    opaque: [signed, next],
    tokens: 18,
  }),
  outputTokens: 30,
}

const bare = { id: 'rs_1', type: 'reasoning', encrypted_content: 'ZW5j' }
const said = { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: answer }] }
const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'weather', arguments: weatherJson }
const incomplete = (output: readonly object[]) => ({
  ...response(output),
  status: 'incomplete',
  incomplete_details: { reason: 'max_output_tokens' },
})
const half = { ...bare, status: 'incomplete', summary: [{ type: 'summary_text', text: thought }] }

const cutSummary: Sample = {
  name: 'Responses: a thought that reached the limit',
  whole: incomplete([half]),
  stream: [
    created,
    ...item(0, bare, half, ...textEvents('reasoning_summary_text', thought, { summary_index: 0 })),
    { type: 'response.incomplete', response: incomplete([half]) },
  ],
  expected: found({ source: 'summary', text: '', opaque: [half], truncated: true, tokens: 18 }),
  outputTokens: 30,
}

const nameless = (events: readonly object[]) =>
  events.map((event) => {
    const { output_index: _, ...rest } = event as { output_index?: number }
    return rest
  })
const full = { ...bare, summary: [{ type: 'summary_text', text: thought }] }
const searched = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search' } }

const byId: Sample = {
  name: 'Responses: pieces that name their item, not its number, and a search of its own',
  whole: response([full, searched, said, call]),
  stream: [
    created,
    ...nameless(
      item(
        0,
        bare,
        full,
        ...textEvents('reasoning_summary_text', thought, { summary_index: 0, item_id: 'rs_1' }),
      ),
    ),
    ...nameless(item(1, searched, searched)),
    ...nameless(
      item(
        2,
        { ...said, content: [] },
        said,
        ...textEvents('output_text', answer, { content_index: 0, item_id: 'msg_1' }),
      ),
    ),
    ...nameless(
      item(
        3,
        { ...call, arguments: '' },
        call,
        ...pieces(weatherJson).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          item_id: 'fc_1',
          delta,
        })),
      ),
    ),
    { type: 'response.completed', response: response([full, searched, said, call]) },
  ],
  expected: found({ source: 'summary', toolCalls: [weather], opaque: [full], tokens: 18 }),
  outputTokens: 30,
}

/** Changes the item ids in each event, as some proxies do. */
const renamed = (events: readonly object[]) =>
  events.map((event, index) =>
    JSON.parse(JSON.stringify(event).replace(/"((?:item_)?id)":"(?:rs|msg|fc)_1"/g, `"$1":"id-${index}"`)),
  )

const otherIds: Sample = {
  name: 'Responses: another id in every event',
  whole: response([{ ...full, id: 'id-13' }, said, call]),
  stream: renamed([
    created,
    ...item(
      0,
      bare,
      full,
      ...textEvents('reasoning_summary_text', thought, { summary_index: 0, item_id: 'rs_1' }),
    ),
    ...item(1, said, said, ...textEvents('output_text', answer, { content_index: 0, item_id: 'msg_1' })),
    ...item(2, { ...call, arguments: '' }, call),
    { type: 'response.completed', response: response([full, said, call]) },
  ]),
  expected: found({
    source: 'summary',
    toolCalls: [weather],
    opaque: [{ ...full, id: 'id-13' }],
    tokens: 18,
  }),
  outputTokens: 30,
}

/** Unusual responses in Anthropic's form and in that of OpenAI's Responses API. */
export const oddBlockSamples: readonly Sample[] = [cutThought, serverTools, cutSummary, byId, otherIds]
