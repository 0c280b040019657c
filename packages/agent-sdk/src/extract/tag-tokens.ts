/** What a model writes that is not text: the beginning or end of a thought, what wraps an answer, a tool call. */
export type Token =
  | OpenToken
  /** `name` is in lower case. */
  | { readonly type: 'close' | 'wrapper' | 'call'; readonly length: number; readonly name: string }

export interface OpenToken {
  readonly type: 'open'
  readonly length: number
  /** Any of these ends it. */
  readonly closers: ReadonlySet<string>
}

const named = [
  'think',
  'thinking',
  'reason',
  'reasoning',
  'thought',
  'budget:thinking',
  'mm:think',
  'seed:think',
]
const pairs: readonly (readonly [open: string, close: string])[] = [
  ...named.map((name) => [`<${name}>`, `</${name}>`] as const),
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['◁think▷', '◁/think▷'],
  ['[think]', '[/think]'],
]

/** In the format of gpt-oss a message has a header, and an end that answers have as well as thoughts. */
const analysis = '<|channel|>analysis<|message|>'
const answerHeaders = [
  '<|start|>assistant',
  '<|channel|>final<|message|>',
  '<|channel|>commentary<|message|>',
]
const ends = ['<|end|>', '<|return|>']
const wrappers = [...answerHeaders, ...ends, '<|begin_of_solution|>', '<|end_of_solution|>']

/** How models that write tool calls as text begin them. */
const calls = [
  '<tool_call>',
  '<tool_calls>',
  '<function_calls>',
  '<function=',
  '<invoke ',
  '<minimax:tool_call>',
  '<seed:tool_call>',
  '<|tool_call',
  '<｜tool▁call',
  '<|python_tag|>',
  '<|channel|>commentary to=',
  '[tool_calls]',
]

/** Closing tags of thoughts whose opening tag the model's template wrote and the response does not hold. */
export const anyCloser: ReadonlySet<string> = new Set([...pairs.map(([, close]) => close), ...ends])

/** Closing tags that count without an opening one. `<|end|>` is none: some models end every message with it. */
export const loneClosers: ReadonlySet<string> = new Set(pairs.map(([, close]) => close))

const literals = new Map<string, Token>([
  ...pairs.map(([open, close]) => [open, opener(open, [close])] as const),
  [analysis, opener(analysis, [...ends, ...answerHeaders])],
  ...pairs.map(([, name]) => [name, { type: 'close', length: name.length, name }] as const),
  ...wrappers.map((name) => [name, { type: 'wrapper', length: name.length, name }] as const),
  ...calls.map((name) => [name, { type: 'call', length: name.length, name }] as const),
])

function opener(open: string, closers: readonly string[]): Token {
  return { type: 'open', length: open.length, closers: new Set(closers) }
}

/** By their first two characters. None is shorter, and none begins with another. */
const byBeginning = new Map<string, (readonly [literal: string, token: Token])[]>()
for (const [literal, token] of literals) {
  const beginning = literal.slice(0, 2)
  byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), [literal, token]])
}
const longest = Math.max(...[...literals.keys()].map((literal) => literal.length))
const mayBegin = /[<[◁]/g

/** Where the next token may begin, from `from` on; -1 = nowhere. */
export function nextPlace(text: string, from: number): number {
  mayBegin.lastIndex = from
  return mayBegin.exec(text)?.index ?? -1
}

/** The token at such a place; `undefined` = none, `'unsure'` = that depends on what follows the text. */
export function tokenAt(text: string, index: number): Token | 'unsure' | undefined {
  const beginning = text.slice(index, index + 2).toLowerCase()
  if (beginning.length < 2) return 'unsure'
  const candidates = byBeginning.get(beginning)
  if (candidates === undefined) return undefined
  const rest = text.slice(index, index + longest).toLowerCase()
  const found = candidates.find(([literal]) => rest.startsWith(literal))
  if (found !== undefined) return found[1]
  return candidates.some(([literal]) => literal.startsWith(rest)) ? 'unsure' : undefined
}
