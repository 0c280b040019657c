/** The terms on which a provider accepts requests for a model. Its refusals change them. */
export interface Terms {
  /** Bare reasoning goes back with the calls that it led to. */
  readonly returnsReasoning: boolean
  /** The model is asked to show what it thinks, and how much it is to think. */
  readonly asksReasoning: boolean
  readonly takesEffort: boolean
  /** A streamed answer is asked to end with its tokens. */
  readonly asksUsage: boolean
  /** The system prompt has a message of its own. */
  readonly takesSystem: boolean
  /** A user message may follow a tool result. */
  readonly takesUserAfterTool: boolean
  readonly takesTools: boolean
  /** Tools of which the provider does not take the schema: it gets a plain one, then none. */
  readonly schemas: ReadonlyMap<string, 'plain' | 'none'>
  /** Characters of a request. */
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

/** A request that was refused. */
export interface Refused {
  /** The provider's words. */
  readonly words: string
  readonly terms: Terms
  readonly chars: number
  /** Characters that it has at least. */
  readonly minChars: number
  /** Names of the tools, in their order. */
  readonly tools: readonly string[]
}

interface Row {
  readonly says: RegExp
  /** The changes to the terms; `undefined` = nothing is left to change. */
  change(refused: Refused): Partial<Terms> | undefined
}

type Switch = { [Name in keyof Terms]: Terms[Name] extends boolean ? Name : never }[keyof Terms]

const set =
  (name: Switch, value: boolean): Row['change'] =>
  ({ terms }) =>
    terms[name] === value ? undefined : { [name]: value }

/** Providers' words about a request that is longer than the context of the model. */
const tooLong = new RegExp(
  [
    /context.{0,12}(?:length|window|size)|context_length_exceeded|context (?:limit|overflow)/, // OpenAI, vLLM, llama.cpp, LM Studio, MiniMax
    /(?:prompt|input|request|conversation)(?: \w+)* (?:is|are) too (?:long|large)/, // Anthropic, Amazon Bedrock, Groq
    /(?:token count|tokens?).{0,60}exceeds?|exceed\w* .{0,40}token/, // Google, Kimi
    /maximum prompt length|too many (?:input )?tokens|reduce (?:the length|your message)/, // xAI, DeepSeek, Groq
  ]
    .map(({ source }) => source)
    .join('|'),
  'is',
)

export const isTooLong = (words: string): boolean => tooLong.test(words)

/** Refusals and the changes that answer them: the first row applies that matches and has something to change. */
const rows: readonly Row[] = [
  { says: /stream_options|include_usage/i, change: set('asksUsage', false) },
  {
    // Groq, Cerebras, Mistral.
    says: /reasoning_content\W.{0,80}\b(?:unsupported|not (?:supported|permitted|allowed)|unexpected|extra)|(?:unsupported|unexpected|unknown|extra)\b.{0,80}reasoning_content/is,
    change: set('returnsReasoning', false),
  },
  // DeepSeek, Kimi, MiMo.
  {
    says: /reasoning_content.{0,80}(?:must|missing|required|expected|provide|pass)|(?:must|missing|required|expected|provide|pass).{0,80}reasoning_content/is,
    change: set('returnsReasoning', true),
  },
  {
    says: /verified to (?:generate|use) reasoning|reasoning[._]summary/i,
    change: set('asksReasoning', false),
  },
  {
    says: /reasoning[._]effort|enable_thinking|(?:not|n't) support (?:thinking|reasoning)/i,
    change: set('takesEffort', false),
  },
  { says: tooLong, change: shorten },
  { says: /role '?user'? after (?:the )?role '?tool/i, change: set('takesUserAfterTool', false) },
  {
    // Templates of Gemma and Mistral: roles are in turn, and the system prompt is none of them.
    says: /system (?:role|message|prompt)\w* (?:is |are )?not (?:supported|allowed)|roles? must alternate|only (?:the )?user,? (?:and )?(?:assistant|model)|(?:unknown|invalid|unsupported|unexpected) role:? '?system/i,
    change: set('takesSystem', false),
  },
  {
    // Groq, Ollama, OpenRouter, vLLM without a parser.
    says: /(?:not|n't|no endpoints found that) support (?:the use of )?(?:tool|function)|(?:tool|function)s?(?: \w+)?[`'"]? (?:is|are) not supported|tool choice requires/i,
    change: set('takesTools', false),
  },
  {
    says: /schema|properties|property keys|function_?declarations|tools[[.]\d|invalid function|function\W.{0,80}parameters|\b(?:one|any|all)Of\b|\$ref/i,
    change: simplifyTools,
  },
]

/** Returns the changes of terms with which a refused request may be accepted; `undefined` = none is known. */
export function adaptTerms(refused: Refused): Partial<Terms> | undefined {
  for (const { says, change } of rows) {
    const changed = says.test(refused.words) ? change(refused) : undefined
    if (changed !== undefined) return changed
  }
  return undefined
}

/** Numbers of tokens, if the refusal has both the limit and what there was, say how much has to go. */
function shorten({ words, chars, minChars }: Refused): Partial<Terms> | undefined {
  if (minChars >= chars) return undefined
  const counts = [...words.matchAll(/\d[\d,_]*/g)].map(([digits]) => Number(digits.replace(/[,_]/g, '')))
  const tokens = [...new Set(counts.filter((count) => count > 255))]
  const [limit, given] = [Math.min(...tokens), Math.max(...tokens)]
  // More numbers than two may be anything.
  const share = tokens.length === 2 ? (0.95 * limit) / given : 0.5
  return { maxChars: Math.max(minChars, Math.floor(chars * share)) }
}

/** The tool that is named gets a plain schema, then it is left out; where none is named, all get a plain one. */
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

/** Providers name a tool, or say which one of the list it is: `tools.2.custom.input_schema`. */
function findTool(words: string, tools: readonly string[]): string | undefined {
  const named = tools.filter((tool) => words.includes(tool)).sort((a, b) => b.length - a.length)
  const place = /function_?declarations[[.](\d+)/i.exec(words) ?? /tools[[.](\d+)/i.exec(words)
  return named[0] ?? (place === null ? undefined : tools[Number(place[1])])
}
