/** The features of requests that a provider accepts for a model. Refusals change them. */
export interface Terms {
  /** Unsigned reasoning is sent back, with the calls that it led to. */
  readonly returnsReasoning: boolean
  /** The request asks for the model's reasoning, and sets the thinking level. */
  readonly asksReasoning: boolean
  readonly takesEffort: boolean
  /** The request asks for token counts at the end of the stream. */
  readonly asksUsage: boolean
  /** The system prompt is sent as a separate message. */
  readonly takesSystem: boolean
  /** A user message may follow a tool result. */
  readonly takesUserAfterTool: boolean
  readonly takesTools: boolean
  /** Tools whose schema the provider refuses: `plain` = sent with a simplified schema, `none` = not offered. */
  readonly schemas: ReadonlyMap<string, 'plain' | 'none'>
  /** Maximum characters of a request. */
  readonly maxChars: number
}

export const usualTerms: Terms = {
  returnsReasoning: false,
  asksReasoning: true,
  takesEffort: true,
  asksUsage: true,
  takesSystem: true,
  takesUserAfterTool: true,
  takesTools: true,
  schemas: new Map(),
  maxChars: Number.POSITIVE_INFINITY,
}

/** A refused request, with the data for changing it. */
export interface Refused {
  /** The provider's message. */
  readonly words: string
  readonly terms: Terms
  readonly chars: number
  /** Characters of the request if all optional messages are dropped. */
  readonly minChars: number
  /** Names of the tools in order. */
  readonly tools: readonly string[]
}

interface Row {
  readonly says: RegExp
  /** The changes of terms; `undefined` = nothing left to change. */
  change(refused: Refused): Partial<Terms> | undefined
}

type Switch = { [Name in keyof Terms]: Terms[Name] extends boolean ? Name : never }[keyof Terms]

const set =
  (name: Switch, value: boolean): Row['change'] =>
  ({ terms }) =>
    terms[name] === value ? undefined : { [name]: value }

/** A case-insensitive regular expression that matches any of these. */
const any = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), 'is')

/** Messages about a request that exceeds the context of the model. */
const tooLong = any(
  /context.{0,12}(?:length|window|size)|context_length_exceeded|context (?:limit|overflow)|n_ctx/, // OpenAI, vLLM, llama.cpp, LM Studio, MiniMax
  /(?:prompt|input|request|conversation|message)(?: \w+)* (?:is |are |was )?too (?:long|large)/, // Anthropic, Amazon Bedrock, Groq, Azure
  /(?:entity|payload|content|body) too large|request_too_large|tokens_limit_reached/, // Proxies, Anthropic, GitHub Models
  /(?:token count|tokens?).{0,60}exceeds?|exceed\w* .{0,40}token|token count is \d+ but/, // Google, Kimi
  /longer than (?:the )?(?:\w+ )?(?:max\w*|model\S*|\d+ tokens)/, // vLLM, Hugging Face
  /(?:prompt|input|request)\b.{0,30}exceeds? (?:the )?max\w* (?:\w+ )?(?:length|size)|input length should be/, // NVIDIA NIM, DeepInfra, GLM, DashScope
  /(?:inputs|tokens).{0,30}must (?:be <=|have less than) \d+/, // Text Generation Inference
  /maximum prompt length|too many (?:input )?tokens|reduce (?:the length|your message)|(?:超|过)长/, // xAI, DeepSeek, Groq, GLM
)

export const isTooLong = (words: string): boolean => tooLong.test(words)

/** Words for "not accepted", before or after a name. */
const untaken = String.raw`unsupported|unexpected|unknown|unrecognized|extra\b|extra_forbidden|not (?:be )?(?:supported|permitted|allowed|enabled|one of)|(?:not|n't) support`
const refuses = (name: string): RegExp =>
  new RegExp(`(?:${name}).{0,80}(?:${untaken})|(?:${untaken}).{0,80}(?:${name})`, 'is')

const refusesThoughts = refuses('reasoning_content')

/** Refusals with the changes that resolve them. The first matching row with a change applies. */
const rows: readonly Row[] = [
  { says: /stream[_ ]options?|include_usage/i, change: set('asksUsage', false) },
  {
    // Groq, Cerebras and Mistral refuse this field; DeepSeek, Kimi and MiMo require it.
    says: /reasoning_content/i,
    change: (refused) => set('returnsReasoning', !refusesThoughts.test(refused.words))(refused),
  },
  {
    says: /verified to (?:generate|use) reasoning|reasoning[._]summary/i,
    change: set('asksReasoning', false),
  },
  {
    says: any(/reasoning[._ ]effort|enable_thinking/, refuses('\\b(?:thinking|reasoning)\\b')),
    change: set('takesEffort', false),
  },
  { says: tooLong, change: shorten },
  { says: /role '?user'? after (?:the )?role '?tool/i, change: set('takesUserAfterTool', false) },
  {
    // Templates of Gemma and Mistral require alternating roles without a system message.
    says: any(
      refuses('(?:system|developer) (?:role|message|prompt|instruction)'),
      refuses(String.raw`\brole\b.{0,30}['"\x60]system|['"\x60]system['"\x60]`), // OpenAI
      /roles? must alternate|only (?:the )?user,? (?:and )?(?:assistant|model)|(?:role.{0,20} 'user',? (?:or|and) 'assistant')/,
      /invalid role:? '?system/,
    ),
    change: set('takesSystem', false),
  },
  {
    says: /schema|properties|property keys|function_?declarations|tools[[.]\d|invalid function|function\W.{0,80}parameters|tool parameters|grammar|\b(?:one|any|all)Of\b|\$ref/i,
    change: simplifyTools,
  },
  {
    // Messages of servers whose model does not support tools: Groq, Ollama, OpenRouter, Gemma at Google, vLLM without a parser,
    // llama.cpp without a template.
    says: any(
      /(?:not|n't|no endpoints found that) support (?:the use of )?(?:tool|function)/,
      /(?:tool|function)s?(?: \w+)?['"\x60]? (?:is|are) not (?:supported|enabled)|function call\w* is not enabled/,
      /tool choice requires|requires --jinja/,
      /(?:unsupported|unknown|unrecognized)(?: \w+)* (?:parameter|field|argument)[^.]{0,12}\btools\b|\btools\b['"\x60]?: extra/,
    ),
    change: set('takesTools', false),
  },
]

/** Returns changes of terms that may make a refused request acceptable; `undefined` = none known. */
export function adaptTerms(refused: Refused): Partial<Terms> | undefined {
  for (const { says, change } of rows) {
    const changed = says.test(refused.words) ? change(refused) : undefined
    if (changed !== undefined) return changed
  }
  return undefined
}

/** Minimum ratio of limit to actual size; smaller ratios suggest that the numbers are not tokens. */
const minShare = 0.1

/** Reduces `maxChars` by the ratio of the limit and the actual tokens, if the message contains both. */
function shorten({ words, chars, minChars }: Refused): Partial<Terms> | undefined {
  if (minChars >= chars) return undefined
  const counts = [...words.matchAll(/\d[\d,_]*/g)].map(([digits]) => Number(digits.replace(/[,_]/g, '')))
  const tokens = [...new Set(counts.filter((count) => count > 255))]
  const [limit, given] = [Math.min(...tokens), Math.max(...tokens)]
  // Unless there are exactly two numbers, it is unclear which are the limit and the actual size, so the size is halved.
  const share = tokens.length === 2 ? Math.max(minShare, (0.95 * limit) / given) : 0.5
  return { maxChars: Math.max(minChars, Math.floor(chars * share)) }
}

/** A tool named in the message gets a plain schema, at the next refusal none. If none is named, all get a plain schema. */
function simplifyTools({ words, terms: { schemas }, tools }: Refused): Partial<Terms> | undefined {
  const named = findTool(words, tools)
  const changed = new Map(schemas)
  for (const tool of named === undefined ? tools : [named]) {
    const isRefusedAgain = named !== undefined && schemas.get(tool) === 'plain'
    if (isRefusedAgain) changed.set(tool, 'none')
    else if (!schemas.has(tool)) changed.set(tool, 'plain')
  }
  const isSame = [...changed].every(([tool, schema]) => schemas.get(tool) === schema)
  return isSame ? undefined : { schemas: changed }
}

/** Finds the refused tool by its name, or by its index as in `tools.2.custom.input_schema`. */
function findTool(words: string, tools: readonly string[]): string | undefined {
  const named = tools.filter((tool) => words.includes(tool)).sort((a, b) => b.length - a.length)
  const place = /function_?declarations[[.](\d+)/i.exec(words) ?? /tools[[.](\d+)/i.exec(words)
  return named[0] ?? (place === null ? undefined : tools[Number(place[1])])
}
