import { expect, test } from 'vitest'
import { adaptTerms, isTooLong, type Terms, usualTerms } from '../../src/adapters/ai-sdk/refusals.js'

const adapt = (words: string, terms: Partial<Terms> = {}) =>
  adaptTerms({
    words,
    terms: { ...usualTerms, ...terms },
    chars: 10_000,
    minChars: 10,
    tools: ['desk__add', 'desk__odd'],
  })

const plain = (...tools: string[]): Partial<Terms> => ({
  schemas: new Map(tools.map((tool) => [tool, 'plain'])),
})
const all = plain('desk__add', 'desk__odd')

test.each<[words: string, change: Partial<Terms> | undefined]>([
  ["Unknown parameter: 'stream_options.include_usage'.", { asksUsage: false }],
  ['stream options are not supported', { asksUsage: false }],
  [
    'Missing `reasoning_content` field in the assistant message at message index 3.',
    { returnsReasoning: true },
  ],
  ['reasoning_content is mandatory', { returnsReasoning: true }],
  ['reasoning_content cannot be empty', { returnsReasoning: true }],
  ['thinking is not supported by this model', { takesEffort: false }],
  ['Thinking level is not supported', { takesEffort: false }],
  ['invalid reasoning effort: none', { takesEffort: false }],
  ["This model doesn't support system messages", { takesSystem: false }],
  ['Developer instruction is not enabled for models/gemma-3-27b-it', { takesSystem: false }],
  ["'messages[0].role' does not support 'system' with this model.", { takesSystem: false }],
  ['messages[0].role: unknown variant `system`, expected `user` or `assistant`', { takesSystem: false }],
  ["body.messages.0.role: Input should be 'user' or 'assistant'", { takesSystem: false }],
  ["Unexpected role 'user' after role 'tool'", { takesUserAfterTool: false }],
  ['Function calling is not enabled for models/gemma-3-27b-it', { takesTools: false }],
  ['tools param requires --jinja flag', { takesTools: false }],
  ['Unrecognized request argument supplied: tools', { takesTools: false }],
  ["Unsupported parameter: 'tools'", { takesTools: false }],
  ['body.tools: Extra inputs are not permitted', { takesTools: false }],
  ['Failed to initialize samplers: failed to parse grammar', all],
  ['Invalid grammar request', all],
  ['Invalid tool parameters', all],
  ['toolConfig.tools.1.toolSpec.inputSchema.json.type must be one of', plain('desk__odd')],
  ['json: cannot unmarshal array into Go struct field .tools.function.parameters.properties.type', all],
  ['Unknown name "const" at \'tools[0].function_declarations[1].parameters\'', plain('desk__odd')],
  ['max_tokens is too large: 100000. This model supports at most 16384 completion tokens', undefined],
  ["Unsupported value: 'temperature' does not support 0.5 with this model", undefined],
  ['tool_call_id of message 3 is unknown', undefined],
  ["messages with role 'tool' must be a response to a preceding message with 'tool_calls'", undefined],
  ['this model is not for you', undefined],
])('%s', (words, change) => {
  expect(adapt(words)).toEqual(change)
})

test.each([
  "messages.2: field 'reasoning_content' is not allowed",
  'messages.2.assistant.reasoning_content: Extra inputs are not permitted',
  '[{"type":"extra_forbidden","loc":["body","messages",2,"assistant","reasoning_content"]}]',
  "for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
])('thoughts are not sent any more, and not asked for in turn: %s', (words) => {
  expect(adapt(words, { returnsReasoning: true })).toEqual({ returnsReasoning: false })
  expect(adapt(words)?.returnsReasoning).toBeUndefined()
})

test.each([
  'Input is too long for requested model.',
  'prompt tokens too long',
  'Prompt exceeds max length',
  'Prompt 超长',
  'Range of input length should be [1, 30720]',
  'Request body too large for gpt-4o model. Max size: 8000 tokens.',
  '413 Request Entity Too Large',
  'Payload Too Large',
  '{"type":"request_too_large","message":"Request exceeds the maximum size"}',
  'tokens_limit_reached',
  'Your request exceeded model token limit: 8192 (requested: 9000)',
  'The decoder prompt (length 9000) is longer than the maximum model length of 8192.',
  'This model does not support inputs longer than 8192 tokens',
  'prompt length (9000) exceeds maximum input length (8192)',
  '`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4215 `inputs` tokens and 512 `max_new_tokens`',
  '`inputs` must have less than 4096 tokens. Given: 9000',
  'the input token count is 9000 but model only supports up to 8192',
  'The message you submitted was too long',
  'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000',
])('is too long: %s', (words) => {
  expect(isTooLong(words)).toBe(true)
  expect(adapt(words)?.maxChars).toBeLessThan(10_000)
})

test.each([
  'max_tokens is too large: 100000',
  'The tool name is too long: 70 > 64',
  "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024",
  'file is too large',
  'Invalid context',
])('is not too long: %s', (words) => {
  expect(isTooLong(words)).toBe(false)
})

test('numbers that are no tokens do not take all of a conversation', () => {
  expect(adapt('{"code":400,"created":1795888830,"message":"prompt is too long"}')?.maxChars).toBe(1000)
  expect(adapt('{"code":1261,"message":"prompt is too long"}')?.maxChars).toBe(5000)
})
