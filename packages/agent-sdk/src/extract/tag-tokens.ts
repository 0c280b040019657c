import { callForms } from './call-forms.js'
import { answerHeaders, bareAnswerHeaders, controls, ends, wordControls } from './control-tokens.js'

/** A token in a model's text: opening or closing tag of a thought, mark of a call, or control token. */
export interface Token {
  readonly type: 'open' | 'close' | 'call' | 'control'
  /** The token in lower case. */
  readonly name: string
  /** The tags that close this opening tag. */
  readonly closers: ReadonlySet<string>
  /**
   * A token without special characters. It is only recognized in lower case and directly before text, without a space. An
   * opening one that is an ordinary word is only recognized at the beginning of the text.
   */
  readonly isBare: boolean
  /**
   * The token may also be markup of a document. Such an opening tag is recognized at the start of a line, or after another
   * thought; such a control token at the start or end of the text.
   */
  readonly isWord: boolean
}

const tags = (...names: readonly string[]): (readonly [string, string])[] =>
  names.map((name) => [`<${name}>`, `</${name}>`])

/** Tags that only thoughts have, so they are recognized anywhere. */
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

/** Tags of thoughts that may also be elements of a document. */
const wordThoughts = tags('reason', 'reasoning', 'thought', 'thoughts')

/** Headers of thoughts in the format of gpt-oss; the template may have written the first token. */
const headers = ['<|channel|>analysis<|message|>', 'analysis<|message|>']
/** `headers` without special tokens, which some servers remove. */
const bareHeaders = ['analysis', 'assistantanalysis']

/** Closing tags of a thought whose opening tag the chat template wrote, so that the response does not contain it. */
export const anyCloser: ReadonlySet<string> = new Set([
  ...[...thoughts, ...wordThoughts].map(([, close]) => close),
  ...ends,
])

/** Closing tags that are recognized without an opening one. Excludes `<|end|>`, with which some models end every message. */
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

/** The tokens by their first two characters, longest first. */
const byBeginning = new Map<string, Token[]>()
for (const each of [...tokens].sort((a, b) => b.name.length - a.name.length)) {
  const beginning = each.name.slice(0, 2)
  byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), each])
}
const longest = Math.max(...tokens.map(({ name }) => name.length))
/** Matches the possible beginnings of tokens, and few other places, so that most text is skipped quickly. */
const mayBegin = /[<[\]◁]|a(?:$|n(?:$|a(?:$|l))|s(?:$|s(?:$|i)))/g

/** Returns the next position from `from` on where a token may begin; -1 = none. */
export function nextPlace(text: string, from: number): number {
  mayBegin.lastIndex = from
  return mayBegin.exec(text)?.index ?? -1
}

/** Returns the token at a position; `undefined` = none, `'unsure'` = that depends on text that has not arrived. */
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

/** Whether a text consists of control tokens and blanks; `'unsure'` = it does so far, but more may follow. */
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

/**
 * Remnants of a call's header that some servers leave before the name of the tool: `<|channel|>commentary to=`, `<tool_call>`.
 */
const beforeName = /^.*\bto=|^(?:\s*<[^<>]*>)+/s

/** Removes control tokens around the name of a tool, which some servers leave. */
export const cutName = (name: string): string =>
  name
    .replace(beforeName, '')
    .replace(/[<[].*$/s, '')
    .trim() || name
