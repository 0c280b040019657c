import { callForms } from './call-forms.js'
import { answerHeaders, bareAnswerHeaders, controls, ends, wordControls } from './control-tokens.js'

/** A token in a model's text: beginning or end of a thought, beginning of a call, or control token. */
export interface Token {
  readonly type: 'open' | 'close' | 'call' | 'control'
  /** In lower case. */
  readonly name: string
  /** For a beginning: the tokens that close it. */
  readonly closers: ReadonlySet<string>
  /**
   * A token without special characters. It counts in lower case if text follows without a space. The beginning that is an
   * ordinary word counts only at the very start.
   */
  readonly isBare: boolean
  /**
   * It may also be markup of a document. Such a beginning counts at the start of a line, or after another thought; such a
   * control token counts at the start or end of the text.
   */
  readonly isWord: boolean
}

const tags = (...names: readonly string[]): (readonly [string, string])[] =>
  names.map((name) => [`<${name}>`, `</${name}>`])

/** Marks that only thoughts have; they count anywhere. */
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

/** Marks of thoughts that may also be elements of a document. */
const wordThoughts = tags('reason', 'reasoning', 'thought', 'thoughts')

/** Beginnings of thoughts in the format of gpt-oss, also if the template wrote the first token. */
const headers = ['<|channel|>analysis<|message|>', 'analysis<|message|>']
/** The same without special tokens. */
const bareHeaders = ['analysis', 'assistantanalysis']

/** Closing tags of thoughts whose opening tag was written by the template, and so is not in the response. */
export const anyCloser: ReadonlySet<string> = new Set([
  ...[...thoughts, ...wordThoughts].map(([, close]) => close),
  ...ends,
])

/** Closing tags that count without an opening one. Not `<|end|>`: some models end every message with it. */
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

/** Tokens by their first two characters; the longest first. */
const byBeginning = new Map<string, Token[]>()
for (const each of [...tokens].sort((a, b) => b.name.length - a.name.length)) {
  const beginning = each.name.slice(0, 2)
  byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), each])
}
const longest = Math.max(...tokens.map(({ name }) => name.length))
/** Matches as few characters of words as suffice to skip almost all others. */
const mayBegin = /[<[\]◁]|a(?:$|n(?:$|a(?:$|l))|s(?:$|s(?:$|i)))/g

/** The next position of a possible token from `from` on; -1 = none. */
export function nextPlace(text: string, from: number): number {
  mayBegin.lastIndex = from
  return mayBegin.exec(text)?.index ?? -1
}

/** The token at such a position; `undefined` = none, `'unsure'` = depends on text that has not arrived. */
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

/** Whether a text has only control tokens and blanks; `'unsure'` = so far, but more may follow. */
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

/** Remnants of a call's header that some servers leave before the name of a tool: `<|channel|>commentary to=`, `<tool_call>`. */
const beforeName = /^.*\bto=|^(?:\s*<[^<>]*>)+/s

/** The name of a tool without surrounding control tokens that some servers leave. */
export const cutName = (name: string): string =>
  name
    .replace(beforeName, '')
    .replace(/[<[].*$/s, '')
    .trim() || name
