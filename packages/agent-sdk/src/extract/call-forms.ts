import { controls, wordControls } from './control-tokens.js'
import { isFilled, record } from './json.js'
import { findJsonEnd, parseJson, splitJson } from './json-text.js'

/** A call that a model wrote as text, since its server did not know the form. */
export interface TextCall {
  /** The name in the model's spelling. */
  readonly name: string
  /** The arguments as JSON, or each as a text that its tool's schema tells the type of. */
  readonly args: string | readonly (readonly [name: string, text: string])[]
}

/** One call, or several in a list, and where what follows begins. */
interface Found {
  readonly calls: readonly TextCall[]
  readonly end: number
}

/** Tries to read a call at a place of the text. */
type Reader = (text: string, from: number) => Found | undefined

interface CallForm {
  /** Models that use the form. */
  readonly of: string
  /** Marks in lower case with which such calls begin, also within a thought. */
  readonly begins: readonly string[]
  readonly read: Reader
}

/** A name that the expression captures, then the arguments as JSON, then perhaps an end. */
const nameThenJson =
  (head: RegExp, tail: RegExp = /(?:)/y): Reader =>
  (text, from) => {
    const found = matchAt(head, text, from)
    if (found === undefined) return undefined
    const end = findJsonEnd(text, found.end)
    const args = text.slice(found.end, end)
    if (end < 0 || record(parseJson(args)) === undefined) return undefined
    return { calls: [{ name: found.groups.name ?? '', args }], end: matchAt(tail, text, end)?.end ?? end }
  }

/** A name that the expression captures, then fields with a `key` and a `value` each, then perhaps an end. */
const nameThenFields =
  (head: RegExp, field: RegExp, tail: RegExp = /(?:)/y): Reader =>
  (text, from) => {
    const found = matchAt(head, text, from)
    if (found === undefined) return undefined
    const args: [string, string][] = []
    let { end } = found
    for (let next = matchAt(field, text, end); next !== undefined; next = matchAt(field, text, end)) {
      args.push([next.groups.key ?? '', next.groups.value ?? ''])
      end = next.end
    }
    const closed = matchAt(tail, text, end)
    return closed && { calls: [{ name: found.groups.name ?? '', args }], end: closed.end }
  }

/** JSON that holds name and arguments: an object, or a list of them. */
const jsonCall: Reader = (text, from) => {
  const end = findJsonEnd(text, from)
  const json = text.slice(from, end).trim()
  const value = end < 0 ? undefined : parseJson(json)
  const all = Array.isArray(value) ? splitJson(json).map(([, each]) => each) : [json]
  const calls = value === undefined ? [] : all.map(readJsonCall).filter((each) => each !== undefined)
  return calls.length > 0 && calls.length === all.length ? { calls, end } : undefined
}

const nameFields = ['name', 'tool_name', 'tool', 'function_name', 'function']
const argumentFields = ['arguments', 'parameters', 'args', 'input', 'tool_input', 'params']

function readJsonCall(json: string): TextCall | undefined {
  const value = record(parseJson(json))
  if (value === undefined) return undefined
  const members = new Map(splitJson(json))
  const inner = members.get('function')
  if (inner !== undefined && record(value.function) !== undefined) return readJsonCall(inner)
  const name = nameFields.map((field) => value[field]).find(isFilled)
  const field = argumentFields.find((each) => each in value)
  if (name === undefined) return undefined
  if (field === undefined) return members.size === 1 ? { name, args: '' } : undefined
  const given = value[field]
  if (typeof given !== 'string' && record(given) === undefined && given !== null) return undefined
  return { name, args: typeof given === 'string' ? given : (members.get(field) ?? '') }
}

/** Gemma writes names without quotes, and strings between `<|"|>`. */
const gemmaCall: Reader = (text, from) => {
  const found = matchAt(/call:(?<name>[\w.:/-]+)\s*(?<given>\{[\s\S]*?\})\s*(?:<tool_call\|>|$)/y, text, from)
  if (found === undefined) return undefined
  const { name = '', given = '' } = found.groups
  const args = given.replace(
    /<\|"\|>([\s\S]*?)<\|"\|>|("[^"\\]*(?:\\[\s\S][^"\\]*)*")|(?<=[{,]\s*)([\w-]+)(?=\s*:)/g,
    (_, said?: string, quoted?: string, key?: string) => quoted ?? JSON.stringify(said ?? key),
  )
  return record(parseJson(args)) && { calls: [{ name, args }], end: found.end }
}

/** By which several models name their marks of calls. */
const prefix = String.raw`(?:[\w-]+:|｜DSML｜)?`

/** Forms of calls as text. The first form that fits applies. */
export const callForms: readonly CallForm[] = [
  {
    of: 'gpt-oss',
    begins: ['<|channel|>commentary to=', '<|channel|>analysis to=', '<|start|>assistant to='],
    read: nameThenJson(
      /(?:<\|channel\|>\w+)?\s*to=(?<name>[^\s<]+)(?:<\|channel\|>\w+)?\s*(?:<\|constrain\|>)?\w*\s*<\|message\|>\s*/y,
      /<\|call\|>/y,
    ),
  },
  {
    of: 'Kimi',
    begins: ['<|tool_calls_section_begin|>', '<|tool_call_begin|>'],
    read: nameThenJson(/(?<name>[^\s<]+)\s*<\|tool_call_argument_begin\|>\s*/y),
  },
  {
    of: 'DeepSeek',
    begins: ['<｜tool▁call'],
    read: nameThenJson(
      /(?:function<｜tool▁sep｜>)?(?<name>[\w.:/-]+)(?:<｜tool▁sep｜>|\s*```json)\s*/y,
      /\s*```/y,
    ),
  },
  {
    of: 'Qwen3-Coder, Seed',
    begins: ['<function=', '<seed:tool_call>'],
    read: nameThenFields(
      /<function=(?<name>[^>\s]+)>\s*(?!\{)/y,
      /<parameter=(?<key>[^>\s]+)>\n?(?<value>[\s\S]*?)\n?(?:<\/parameter>|(?=<parameter=|<\/function>))\s*/y,
      /<\/function>/y,
    ),
  },
  {
    of: 'Llama',
    begins: ['<|python_tag|>'],
    read: nameThenJson(/<function=(?<name>[^>\s]+)>\s*/y, /\s*<\/function>/y),
  },
  {
    of: 'Claude, MiniMax, DeepSeek from V3.2 on',
    begins: [
      ...['<function_calls>', '<invoke ', '<antml:function_calls>', '<antml:invoke '],
      ...['<minimax:tool_call>', '<｜dsml｜'],
    ],
    read: nameThenFields(
      new RegExp(String.raw`<${prefix}invoke name="(?<name>[^"]+)"[^>]*>\s*`, 'y'),
      new RegExp(
        String.raw`<${prefix}parameter name="(?<key>[^"]+)"[^>]*>(?<value>[\s\S]*?)</${prefix}parameter>\s*`,
        'y',
      ),
      new RegExp(`</${prefix}invoke>`, 'y'),
    ),
  },
  {
    of: 'GLM',
    begins: [],
    read: nameThenFields(
      /(?<name>[\w.:/-]+)\s*(?=<arg_key>|<\/tool_call>)/y,
      /<arg_key>\s*(?<key>[^<]*?)\s*<\/arg_key>\s*<arg_value>(?<value>[\s\S]*?)<\/arg_value>\s*/y,
      /<\/tool_call>|$/y,
    ),
  },
  {
    of: 'Mistral',
    begins: ['[tool_calls]'],
    read: nameThenJson(/(?<name>[\w.:/-]+)\s*(?:\[CALL_ID\][\w-]+)?(?:\[ARGS\])?\s*(?=\{)/y),
  },
  { of: 'Gemma 4', begins: ['<|tool_call>'], read: gemmaCall },
  {
    of: 'Hermes, Qwen, Granite, Phi, Command, Nemotron, and those who write nothing but JSON',
    begins: ['<tool_call>', '<tool_calls>', '<|tool_call|>', '<|start_action|>', '<toolcall>'],
    read: jsonCall,
  },
]

/** Texts around calls: marks of their beginnings and ends, and control tokens. */
const around = new RegExp(
  [
    String.raw`\s+|[,;]`,
    `</?${prefix}(?:tool_calls?|function_calls|toolcall)>`,
    String.raw`<\|/?tool_calls?(?:_section)?(?:_begin|_end)?\|?>|<tool_call\|>`,
    '<｜tool▁calls?▁(?:begin|end)｜>',
    String.raw`\[/?TOOL_CALLS\]|<\|python_tag\|>|<\|(?:START|END)_ACTION\|>`,
    ...[...controls, ...wordControls].map((token) => token.replace(/[|[\]~]/g, '\\$&')),
  ].join('|'),
  'iy',
)

/** The calls that a text consists of; none where it holds anything else. */
export function readTextCalls(text: string): readonly TextCall[] {
  const calls: TextCall[] = []
  for (let at = 0; at < text.length; ) {
    const next = matchAt(around, text, at)?.end
    const found = next === undefined ? readCallAt(text, at) : undefined
    if (next === undefined && found === undefined) return []
    calls.push(...(found?.calls ?? []))
    at = next ?? found?.end ?? text.length
  }
  return calls
}

const readCallAt: Reader = (text, from) => {
  for (const { read } of callForms) {
    const found = read(text, from)
    if (found !== undefined) return found
  }
  return undefined
}

interface Match {
  readonly groups: Readonly<Record<string, string | undefined>>
  readonly end: number
}

function matchAt(pattern: RegExp, text: string, from: number): Match | undefined {
  pattern.lastIndex = from
  const found = pattern.exec(text)
  return found === null ? undefined : { groups: found.groups ?? {}, end: pattern.lastIndex }
}
