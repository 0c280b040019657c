import callForms from '../fixtures/model-habits/calls-as-text.json' with { type: 'json' }

/** The API of a server; `chat`: Chat Completions as defined by OpenAI. */
export type Wire = 'chat' | 'responses' | 'anthropic' | 'gemini'

/**
 * How a server sends tool calls: in a field, as text in one of the known forms, with unusual arguments, or with an unusual
 * name.
 */
export type CallHabit =
  | { readonly field: string }
  | { readonly form: string }
  | { readonly args: string }
  | { readonly name: string }

/**
 * How a server sends thoughts: in a field, in parts of the content, in tags, before a closing tag, as a number of tokens, or
 * not at all.
 */
export type ThoughtHabit =
  | { readonly field: string }
  | { readonly part: 'thinking' | 'summary' }
  | { readonly mark: string }
  | { readonly closer: string }
  | 'counted'
  | 'none'

/** A change to a request that a server has refused. */
export type Change = keyof typeof changes

/**
 * How a server sends refusals: in a field of the response, as a finish reason, or as a status. After some, the request is
 * changed and repeated.
 */
export type RefusalHabit =
  | { readonly field: string }
  | { readonly ends: string }
  | { readonly status: number; readonly says: string; readonly change?: Change }

/** How a server sends failures: as a status with a body, as a finish reason, or as an event within the answer. */
export type ErrorHabit =
  | { readonly status: number; readonly body: unknown }
  | { readonly ends: string }
  | { readonly event: object }

interface Habits {
  readonly calls: CallHabit
  readonly thoughts: ThoughtHabit
  readonly refusals: RefusalHabit
  readonly errors: ErrorHabit
}

/** The habits of a server or a family of models. For Chat Completions, absent fields are as in the first row. */
export type Row = { readonly of: string } & (
  | ({ readonly wire?: undefined } & Partial<Habits>)
  | ({ readonly wire: Exclude<Wire, 'chat'> } & Habits)
)

const changes = {
  usage: 'sent again without it',
  thoughts: 'sent again with the thoughts',
  system: 'sent again, with the system prompt in the first message',
  tools: 'sent again without tools',
}

/** The message in each error body. */
export const reason = 'no room for now'

const openai = { error: { message: reason, type: 'server_error', code: null } }

/**
 * The rows of the table in docs/compatibility.md, which `matrix.test.ts` tests cell by cell. The first row is the usual case.
 */
export const matrix: readonly Row[] = [
  {
    of: 'Chat Completions',
    calls: { field: 'tool_calls' },
    thoughts: { field: 'reasoning_content' },
    refusals: { ends: 'content_filter' },
    errors: { status: 500, body: openai },
  },
  { of: 'OpenAI', thoughts: 'counted', refusals: { field: 'refusal' } },
  {
    of: 'OpenAI, Responses',
    wire: 'responses',
    calls: { field: 'function_call' },
    thoughts: { field: 'reasoning_summary_text' },
    refusals: { field: 'refusal' },
    errors: {
      event: {
        type: 'error',
        sequence_number: 1,
        error: { type: 'server_error', code: null, message: reason },
      },
    },
  },
  {
    of: 'Azure OpenAI',
    thoughts: 'counted',
    errors: { status: 503, body: { error: { code: '503', message: reason } } },
  },
  {
    of: 'Anthropic',
    wire: 'anthropic',
    calls: { field: 'tool_use' },
    thoughts: { field: 'thinking' },
    refusals: { ends: 'refusal' },
    errors: { event: { type: 'error', error: { type: 'overloaded_error', message: reason } } },
  },
  {
    of: 'Gemini',
    wire: 'gemini',
    calls: { field: 'functionCall' },
    thoughts: { field: 'thought' },
    refusals: { ends: 'SAFETY' },
    errors: { ends: 'MALFORMED_FUNCTION_CALL' },
  },
  {
    of: 'Gemini, Chat Completions',
    calls: { args: 'one index for all, empty ids' },
    thoughts: { mark: '<thought>' },
    refusals: { ends: 'PROHIBITED_CONTENT' },
    errors: { status: 503, body: [{ error: { code: 503, message: reason, status: 'UNAVAILABLE' } }] },
  },
  {
    of: 'Amazon Bedrock, Chat Completions',
    thoughts: { mark: '<reasoning>' },
    refusals: { ends: 'guardrail_intervened' },
    errors: { status: 503, body: { Message: reason } },
  },
  {
    of: 'Databricks',
    thoughts: { part: 'summary' },
    errors: { status: 503, body: { error_code: 'X', message: reason } },
  },
  {
    of: 'Groq',
    thoughts: { field: 'reasoning' },
    refusals: { status: 400, says: '`tool calling` is not supported with this model', change: 'tools' },
    errors: {
      status: 400,
      body: { error: { message: reason, code: 'tool_use_failed', failed_generation: '<function=' } },
    },
  },
  {
    of: 'Cerebras',
    thoughts: { field: 'reasoning' },
    errors: { status: 429, body: { message: reason, code: 'queue_exceeded' } },
  },
  {
    of: 'xAI',
    refusals: { status: 403, says: 'Content violates usage guidelines' },
    errors: { status: 429, body: { code: 'Some resource has been exhausted', error: reason } },
  },
  {
    of: 'OpenRouter',
    thoughts: { field: 'reasoning' },
    refusals: { status: 404, says: 'No endpoints found that support tool use.', change: 'tools' },
    errors: {
      status: 502,
      body: { error: { message: 'Provider returned error', metadata: { raw: JSON.stringify(openai) } } },
    },
  },
  {
    of: 'Mistral',
    calls: { form: 'Mistral, newer' },
    thoughts: { part: 'thinking' },
    refusals: { status: 422, says: 'Extra inputs are not permitted: stream_options', change: 'usage' },
    errors: { status: 422, body: { detail: [{ type: 'missing', loc: ['body', 'messages'], msg: reason }] } },
  },
  {
    of: 'Magistral on your own server',
    calls: { form: 'Mistral' },
    thoughts: { mark: '[THINK]' },
    refusals: { status: 500, says: 'Conversation roles must alternate', change: 'system' },
  },
  {
    of: 'Cohere, Command',
    calls: { form: 'Command' },
    thoughts: { mark: '<|START_THINKING|>' },
    refusals: { ends: 'ERROR_TOXIC' },
    errors: { status: 500, body: { message: reason } },
  },
  {
    of: 'DeepSeek',
    calls: { form: 'DeepSeek V3.1' },
    refusals: {
      status: 400,
      says: 'The reasoning_content in the thinking mode must be passed back to the API.',
      change: 'thoughts',
    },
    errors: { ends: 'insufficient_system_resource' },
  },
  {
    of: 'DeepSeek R1 on your own server',
    calls: { form: 'DeepSeek V3, R1' },
    thoughts: { closer: '</think>' },
  },
  { of: 'DeepSeek V3.2 on your own server', calls: { form: 'DeepSeek V3.2' }, thoughts: { mark: '<think>' } },
  {
    of: 'Kimi',
    calls: { form: 'Kimi' },
    thoughts: { mark: '◁think▷' },
    refusals: {
      status: 400,
      says: 'reasoning_content is missing in assistant tool call message at index 2',
      change: 'thoughts',
    },
    errors: { status: 429, body: { error: { message: reason, type: 'engine_overloaded_error' } } },
  },
  {
    of: 'Qwen3',
    calls: { form: 'Qwen, Hermes' },
    thoughts: { mark: '<think>' },
    refusals: { status: 400, says: 'Input data may contain inappropriate content.' },
  },
  { of: 'Qwen3-Coder', calls: { form: 'Qwen3-Coder' }, thoughts: 'none' },
  {
    of: 'GLM',
    calls: { form: 'GLM' },
    thoughts: { mark: '<think>' },
    refusals: { ends: 'sensitive' },
    errors: { ends: 'network_error' },
  },
  { of: 'MiniMax M2', calls: { form: 'MiniMax' }, thoughts: { mark: '<think>' } },
  { of: 'MiniMax M3', calls: { form: 'MiniMax M3' }, thoughts: { mark: '<mm:think>' } },
  {
    of: 'MiMo',
    refusals: {
      status: 400,
      says: 'Param Incorrect: reasoning_content is required for assistant messages with tool_calls',
      change: 'thoughts',
    },
  },
  { of: 'Seed', calls: { form: 'Seed' }, thoughts: { mark: '<seed:think>' } },
  { of: 'LongCat', calls: { form: 'LongCat' }, thoughts: { mark: '<longcat_think>' } },
  {
    of: 'gpt-oss',
    calls: { form: 'gpt-oss' },
    thoughts: { mark: '<|channel|>analysis<|message|>' },
    errors: { event: { error: { message: reason, type: 'BadRequestError', code: 400 } } },
  },
  {
    of: 'Gemma 3',
    calls: { form: 'nothing but JSON' },
    thoughts: 'none',
    refusals: { status: 400, says: 'System role not supported', change: 'system' },
  },
  { of: 'Gemma 4', calls: { form: 'Gemma 4' }, thoughts: { mark: '<|channel>thought' } },
  { of: 'MedGemma', calls: { form: 'nothing but JSON' }, thoughts: { mark: '<unused94>thought' } },
  { of: 'Llama', calls: { form: 'Llama' }, thoughts: 'none' },
  { of: 'Llama 4', calls: { form: 'Llama 4' }, thoughts: 'none' },
  { of: 'LFM', calls: { form: 'LFM' }, thoughts: 'none' },
  { of: 'Hermes', calls: { form: 'Qwen, Hermes' }, thoughts: { mark: '<think>' } },
  { of: 'Granite, Phi', calls: { form: 'Granite, Phi' }, thoughts: { mark: '<think>' } },
  { of: 'Nemotron', calls: { form: 'Nemotron' }, thoughts: { mark: '<think>' } },
  { of: 'Apertus', calls: { form: 'Apertus' }, thoughts: { mark: '<|inner_prefix|>' } },
  { of: 'models that write as Claude does', calls: { form: 'Claude' }, thoughts: { mark: '<thinking>' } },
  {
    of: 'gateways to Claude',
    calls: { args: 'an empty object first, then pieces' },
    refusals: { ends: 'refusal' },
    errors: { status: 529, body: openai },
  },
  {
    of: 'Ollama',
    calls: { args: 'one index for all, ids of their own' },
    thoughts: { field: 'reasoning' },
    refusals: { status: 400, says: 'registry.ollama.ai/library/m does not support tools', change: 'tools' },
    errors: { status: 500, body: { error: reason } },
  },
  {
    of: 'LM Studio',
    refusals: {
      status: 400,
      says: 'Error rendering prompt with jinja template: Conversation roles must alternate',
      change: 'system',
    },
    errors: { status: 200, body: { error: reason } },
  },
  {
    of: 'vLLM',
    calls: { name: 'desk__add<|channel|>commentary' },
    thoughts: { closer: '</think>' },
    refusals: { status: 400, says: '"auto" tool choice requires --enable-auto-tool-choice', change: 'tools' },
    errors: {
      status: 503,
      body: { object: 'error', message: reason, type: 'ServiceUnavailable', code: 503 },
    },
  },
  {
    of: 'llama.cpp',
    refusals: { status: 500, says: 'Only user and assistant roles are supported!', change: 'system' },
    errors: { status: 503, body: { error: { code: 503, message: reason, type: 'unavailable_error' } } },
  },
  { of: 'SGLang', errors: { ends: 'abort' } },
]

const code = (text: string): string => `\`${text}\``

/** The mark with which a call in this form begins; `JSON` if it has none. */
const formMark = (form: string): string => {
  const text = callForms.find(({ of }) => of === form)?.variants[0]?.text ?? ''
  const mark = /^(?:\]<\]\w+\[>\[|<[^>]*>|\[[A-Z_]+\])/.exec(text)?.[0]
  return mark === undefined ? 'JSON' : code(mark)
}

function describeCall(habit: CallHabit): string {
  if ('field' in habit) return `${code(habit.field)}: made`
  if ('form' in habit) return `as text, ${formMark(habit.form)}: made`
  if ('args' in habit) return `${habit.args}: made`
  return `the name ${code(habit.name)}: made`
}

export type ThoughtOutcome = 'shown' | 'hidden' | 'counted' | 'none'

/** How thoughts of this kind are treated by default. */
export function findThoughtOutcome(habit: ThoughtHabit, { wire }: Row): ThoughtOutcome {
  if (habit === 'none' || habit === 'counted') return habit
  return wire === undefined ? 'hidden' : 'shown'
}

function describeThought(habit: ThoughtHabit, row: Row): string {
  const outcome = findThoughtOutcome(habit, row)
  if (habit === 'none') return outcome
  if (habit === 'counted') return `a number of tokens: ${outcome}`
  if ('field' in habit) return `${code(habit.field)}: ${outcome}`
  if ('part' in habit) return `${code(habit.part)} in \`content\`: ${outcome}`
  return `${'mark' in habit ? code(habit.mark) : `${code(habit.closer)} alone`}: ${outcome}`
}

function describeRefusal(habit: RefusalHabit): string {
  if ('field' in habit) return `${code(habit.field)}: it is the answer`
  if ('ends' in habit) return `${code(habit.ends)}: quoted`
  const { status, says, change } = habit
  return `${status} “${says}”: ${change === undefined ? 'quoted' : changes[change]}`
}

/** Path of the error message in the body of an error. */
const findWords = (body: unknown): string =>
  Object.entries(Object(body))
    .filter(([, value]) => JSON.stringify(value)?.includes(reason))
    .map(([key, value]) => (typeof value === 'string' ? key : `${key}.${findWords(value)}`))
    .join()

/** Whether a model agent repeats the request after a failure that the server sends in this way. */
export const isAskedAgain = (habit: ErrorHabit): boolean =>
  'ends' in habit || ('status' in habit && (habit.status === 429 || habit.status >= 500))

function describeError(habit: ErrorHabit): string {
  const outcome = isAskedAgain(habit) ? 'asked again, then quoted' : 'quoted'
  if ('ends' in habit) return `${code(habit.ends)}: ${outcome}`
  if ('event' in habit) return `an event in the stream: ${outcome}`
  return `${habit.status}, ${code(findWords(habit.body))}: ${outcome}`
}

/** The rows of the table, with these columns: server or model, and how it sends calls, thoughts, refusals and errors. */
export const describeRows = (): string[][] =>
  matrix.map((row) => [
    row.of,
    row.calls ? describeCall(row.calls) : 'as usual',
    row.thoughts ? describeThought(row.thoughts, row) : 'as usual',
    row.refusals ? describeRefusal(row.refusals) : 'as usual',
    row.errors ? describeError(row.errors) : 'as usual',
  ])
