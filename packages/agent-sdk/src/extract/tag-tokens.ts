import { callForms } from './call-forms.js'
import { answerHeaders, bareAnswerHeaders, controls, ends, wordControls } from './control-tokens.js'

/**
 * What a model writes that is not text: the beginning or end of a thought, the beginning of a call, what controls the
 * conversation.
 */
export interface Token {
  readonly type: 'open' | 'close' | 'call' | 'control'
  /** In lower case. */
  readonly name: string
  /** Of a beginning: any of these ends it. */
  readonly closers: ReadonlySet<string>
  /**
   * It has no marks of its own: it counts in lower case, where what follows is written on it. The beginning that is a word counts
   * before all else.
   */
  readonly isBare: boolean
  /**
   * It may be markup of any document as well. Such a beginning counts at the beginning of a line, or after another thought; such a
   * control token counts where the text begins or ends.
   */
  readonly isWord: boolean
}

const tags = (...names: readonly string[]): (readonly [string, string])[] =>
  names.map((name) => [`<${name}>`, `</${name}>`])

/** Marks of thoughts that are nothing else, wherever they stand. */
const thoughts: readonly (readonly [open: string, close: string])[] = [
  ...tags(
    'think',
    'thinking',
    'budget:thinking',
    'mm:think',
    'seed:think',
    'antml:thinking',
    'antthinking',
    'longcat_think',
  ),
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['◁think▷', '◁/think▷'],
  ['[think]', '[/think]'],
  ['<|channel>thought', '<channel|>'], // Gemma 4
  ['<unused94>thought', '<unused95>'], // MedGemma
  ['<|start_thinking|>', '<|end_thinking|>'], // Command
  ['<|inner_prefix|>', '<|inner_suffix|>'], // Apertus
]

/** Marks of thoughts that may be elements of any document. */
const wordThoughts = tags('reason', 'reasoning', 'thought', 'thoughts')

/** How a thought begins in the format of gpt-oss, also where its template wrote the first token of it. */
const headers = ['<|channel|>analysis<|message|>', 'analysis<|message|>']
/** The same without special tokens. */
const bareHeaders = ['analysis', 'assistantanalysis']

/** Closing tags of thoughts whose opening tag the model's template wrote and the response does not hold. */
export const anyCloser: ReadonlySet<string> = new Set([
  ...[...thoughts, ...wordThoughts].map(([, close]) => close),
  ...ends,
])

/** Closing tags that count without an opening one. `<|end|>` is none: some models end every message with it. */
const loneClosers: ReadonlySet<string> = new Set([...anyCloser].filter((each) => !ends.includes(each)))

const none: ReadonlySet<string> = new Set()
const isWord = true
const headerClosers = [...ends, ...answerHeaders]
const tokens: readonly Token[] = [
  ...thoughts.map(([open, close]) => token('open', open, new Set([close]))),
  ...wordThoughts.map(([open, close]) => token('open', open, new Set([close]), isWord)),
  ...headers.map((name) => token('open', name, new Set(headerClosers))),
  ...bareHeaders.map((name) => ({
    ...token('open', name, new Set([...headerClosers, ...bareAnswerHeaders])),
    isBare: true,
  })),
  ...[...loneClosers].map((name) => token('close', name)),
  ...callForms.flatMap(({ begins }) => begins).map((name) => token('call', name)),
  ...controls.map((name) => token('control', name)),
  ...wordControls.map((name) => token('control', name, none, isWord)),
  ...bareAnswerHeaders.map((name) => ({ ...token('control', name, none, isWord), isBare: true })),
]

function token(type: Token['type'], name: string, closers = none, isWord = false): Token {
  return { type, name, closers, isWord, isBare: false }
}

/** By their first two characters, none of which is shorter; the longest first. */
const byBeginning = new Map<string, Token[]>()
for (const each of [...tokens].sort((a, b) => b.name.length - a.name.length)) {
  const beginning = each.name.slice(0, 2)
  byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), each])
}
const longest = Math.max(...tokens.map(({ name }) => name.length))
/** Of words no more than it takes to pass over almost all others. */
const mayBegin = /[<[\]◁]|a(?:$|n(?:$|a(?:$|l))|s(?:$|s(?:$|i)))/g

/** Where the next token may begin, from `from` on; -1 = nowhere. */
export function nextPlace(text: string, from: number): number {
  mayBegin.lastIndex = from
  return mayBegin.exec(text)?.index ?? -1
}

/** The token at such a place; `undefined` = none, `'unsure'` = that depends on what follows the text. */
export function tokenAt(text: string, index: number, isLast: boolean): Token | 'unsure' | undefined {
  const rest = text.slice(index, index + longest).toLowerCase()
  const isOver = isLast || rest.length === longest
  if (rest.length < 2) return isOver ? undefined : 'unsure'
  for (const each of byBeginning.get(rest.slice(0, 2)) ?? []) {
    if (rest.startsWith(each.name)) return each
    if (!isOver && each.name.startsWith(rest)) return 'unsure'
  }
  return undefined
}

/** Whether a text holds nothing but control tokens and blanks; `'unsure'` = so far, and more may follow. */
export function hasOnlyControls(text: string, isLast: boolean): boolean | 'unsure' {
  for (let at = 0; ; ) {
    at = text.length - text.slice(at).trimStart().length
    if (at === text.length) return isLast || 'unsure'
    const found = tokenAt(text, at, isLast)
    if (found === 'unsure') return found
    if (found?.type !== 'control') return false
    at += found.name.length
  }
}

/** The rest of a call's header that some servers leave before the name of a tool: `<|channel|>commentary to=`, `<tool_call>`. */
const beforeName = /^.*\bto=|^(?:\s*<[^<>]*>)+/s

/** The name of a tool without the control tokens that some servers leave around it. */
export const cutName = (name: string): string =>
  name
    .replace(beforeName, '')
    .replace(/[<[].*$/s, '')
    .trim() || name
