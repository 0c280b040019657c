import { controls, wordControls } from './control-tokens.js'
import { isFilled, record } from './json.js'
import { findJsonEnd, parseJson, splitJson } from './json-text.js'

/** A call that a model wrote as text, in a form that its server did not recognize. */
export interface TextCall {
  /** The name as the model wrote it. */
  readonly name: string
  /** The arguments as JSON, or as pairs of name and text if the types depend on the tool's schema. */
  readonly args: string | readonly (readonly [name: string, text: string])[]
}

/** The parsed calls, and the position after them. */
interface Found {
  readonly calls: readonly TextCall[]
  readonly end: number
}

/** Parses calls at a position of a text; `undefined` = there are none. */
type Reader = (text: string, from: number) => Found | undefined

interface CallForm {
  /** Models that use this form. */
  readonly of: string
  /** Opening marks of such calls in lower case. They are also recognized within a thought. */
  readonly begins: readonly string[]
  readonly read: Reader
}

/** Reads a call: `head` captures its name, then follow its arguments as JSON, and optionally `tail`. */
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

/** Reads a call: `head` captures its name, then follow fields that each capture a `key` and a `value`, and `tail`. */
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

/** Reads a JSON object with the name and arguments of a call, or a list of such objects. */
const jsonCall: Reader = (text, from) => {
  const end = findJsonEnd(text, from)
  const all = end < 0 ? [] : splitCalls(text.slice(from, end).trim())
  const calls = all.map(readJsonCall).filter((each) => each !== undefined)
  return calls.length > 0 && calls.length === all.length ? { calls, end } : undefined
}

/** Splits JSON into the texts of its calls. */
function splitCalls(json: string): readonly string[] {
  const value = parseJson(json)
  if (Array.isArray(value)) return splitJson(json).map(([, each]) => each)
  const inner = Array.isArray(record(value)?.tool_calls) && new Map(splitJson(json)).get('tool_calls')
  if (inner) return splitCalls(inner)
  return record(value) === undefined ? [] : [json]
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

/** Reads a call of Gemma, which writes names without quotes and strings between `<|"|>`. */
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

/** Reads JSON with the arguments of each call under the name of its tool. */
const namedArguments: Reader = (text, from) => {
  const mark = matchAt(/<\|tools_prefix\|>\s*/y, text, from)
  const end = mark === undefined ? -1 : findJsonEnd(text, mark.end)
  const all = end < 0 ? [] : splitCalls(text.slice(mark?.end, end)).map(splitJson)
  const calls = all.flatMap(([call, another]) => (call && !another ? [{ name: call[0], args: call[1] }] : []))
  return calls.length > 0 && calls.length === all.length ? { calls, end } : undefined
}

/** Literals of Python with their equivalent in JSON. */
export const pythonWords: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

const pythonString = String.raw`"[^"\\]*(?:\\[\s\S][^"\\]*)*"|'(?<single>[^'\\]*(?:\\[\s\S][^'\\]*)*)'`
const pythonEnd = new RegExp(String.raw`${pythonString}|\)\s*\]?`, 'g')
const pythonPart = new RegExp(String.raw`${pythonString}|\b(?:True|False|None)\b|(?<key>\w+)\s*=`, 'g')

/** Reads a call in Python syntax, or a list of calls. */
const pythonCall: Reader = (text, from) => {
  const head = matchAt(/\[?\s*(?<name>[A-Za-z_][\w.]*)\(/y, text, from)
  let end = head?.end ?? -1
  let last = ''
  while (end >= 0 && !last.startsWith(')')) {
    pythonEnd.lastIndex = end
    last = pythonEnd.exec(text)?.[0] ?? ''
    end = last === '' ? -1 : pythonEnd.lastIndex
  }
  if (head === undefined || end < 0) return undefined
  const given = text.slice(head.end, end - last.length)
  const args = given.replace(pythonPart, (word, single?: string, key?: string) => {
    if (single !== undefined) return `"${single.replaceAll("\\'", "'").replace(/(?<!\\)"/g, '\\"')}"`
    return key === undefined ? (pythonWords[word] ?? word) : `"${key}":`
  })
  const json = `{${args}}`
  return record(parseJson(json)) && { calls: [{ name: head.groups.name ?? '', args: json }], end }
}

/** Prefixes of call marks that several models use. */
const prefix = String.raw`(?:[\w-]+:|｜DSML｜|longcat_)?`
/** Separators within DeepSeek's call marks, which vary. */
const gap = String.raw`(?:▁|_| |\\_)`
/** A token that MiniMax M3 writes before each of its tags. */
const m3 = String.raw`(?:\]<\]minimax\[>\[)?`

/** The forms of calls in a text, in order of precedence. */
export const callForms: readonly CallForm[] = [
  {
    of: 'gpt-oss',
    begins: [
      ...['<|channel|>commentary to=', '<|channel|>analysis to=', '<|start|>assistant to='],
      'assistantcommentary to=',
    ],
    read: nameThenJson(
      /(?:(?:<\|channel\|>|assistant)?(?:commentary|analysis))?\s*to=(?<name>[^\s<{]+)(?:<\|channel\|>\w+)?\s*(?:<\|constrain\|>)?\w*\s*(?:<\|message\|>)?\s*(?=\{)/y,
      /<\|call\|>/y,
    ),
  },
  {
    of: 'Kimi',
    begins: ['<|tool_calls_section_begin|>', '<|tool_call_section_begin|>', '<|tool_call_begin|>'],
    read: nameThenJson(/(?<name>[^\s<]+)\s*<\|tool_call_argument_begin\|>\s*/y),
  },
  {
    of: 'DeepSeek',
    begins: ['<｜tool▁call', '<｜tool_call', '<｜tool call', '<｜tool\\_call'],
    read: nameThenJson(
      new RegExp(
        `(?:function<｜tool${gap}sep｜>)?(?<name>[\\w.:/-]+)(?:<｜tool${gap}sep｜>|\\s*\`\`\`json|\\s*\\n)\\s*`,
        'y',
      ),
      /\s*```/y,
    ),
  },
  {
    of: 'Qwen3-Coder, Seed',
    begins: ['<function=', '<seed:tool_call>'],
    read: nameThenFields(
      /<function=(?<name>[^>\s]+)>\s*(?!\{)/y,
      /<parameter=(?<key>[^>\s]+)>\n?(?<value>[\s\S]*?)\n?(?:<\/parameter>|(?=<parameter=|<\/function>|<\/tool_call>))\s*/y,
      /<\/function>|(?=<\/tool_call>)|$/y,
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
      new RegExp(String.raw`<${prefix}invoke name=["'](?<name>[^"']+)["'][^>]*>\s*`, 'y'),
      new RegExp(
        String.raw`<${prefix}parameter name=["'](?<key>[^"']+)["'][^>]*>(?<value>[\s\S]*?)</${prefix}parameter>\s*`,
        'y',
      ),
      new RegExp(`</${prefix}invoke>`, 'y'),
    ),
  },
  {
    of: 'MiniMax M3',
    begins: [']<]minimax[>['],
    read: nameThenFields(
      /<invoke name="(?<name>[^"]+)">\s*/y,
      new RegExp(String.raw`${m3}<(?<key>[\w.-]+)>(?<value>[\s\S]*?)${m3}</\k<key>>\s*`, 'y'),
      new RegExp(`${m3}</invoke>`, 'y'),
    ),
  },
  {
    of: 'GLM, LongCat',
    begins: [],
    read: nameThenFields(
      new RegExp(String.raw`(?<name>[\w.:/-]+)\s*(?=<${prefix}arg_key>|</${prefix}tool_call>)`, 'y'),
      new RegExp(
        String.raw`<${prefix}arg_key>\s*(?<key>[^<]*?)\s*</${prefix}arg_key>\s*<${prefix}arg_value>(?<value>[\s\S]*?)</${prefix}arg_value>\s*`,
        'y',
      ),
      new RegExp(`</${prefix}tool_call>|$`, 'y'),
    ),
  },
  {
    of: 'Mistral',
    begins: ['[tool_calls]'],
    read: nameThenJson(/(?<name>[\w.:/-]+)\s*(?:\[CALL_ID\][\w-]+)?(?:\[ARGS\])?\s*(?=\{)/y),
  },
  { of: 'Gemma 4', begins: ['<|tool_call>'], read: gemmaCall },
  { of: 'Apertus', begins: ['<|tools_prefix|>'], read: namedArguments },
  {
    of: 'Hermes, Qwen, Granite, Phi, Command, Nemotron, LongCat, and models that write nothing but JSON',
    begins: [
      ...['<tool_call>', '<tool_calls>', '<|tool_call|>', '<|start_action|>', '<toolcall>'],
      '<longcat_tool_call>',
    ],
    read: jsonCall,
  },
  { of: 'Llama 4, LFM', begins: ['<|python_start|>', '<|tool_call_start|>'], read: pythonCall },
]

/** Texts that may surround calls: opening and closing marks, and control tokens. */
const around = new RegExp(
  [
    String.raw`\s+|[,;]|\]<\]minimax\[>\[`,
    `</?${prefix}(?:tool_calls?|function_calls|toolcall)>`,
    String.raw`<\|/?tool_calls?(?:_section)?(?:_begin|_start|_end)?\|?>|<tool_call\|>|<\|tools_suffix\|>`,
    `<｜tool${gap}calls?(?:${gap}(?:begin|end))?｜>`,
    String.raw`\[/?TOOL_CALLS\]|<\|python_(?:tag|start|end)\|>|<\|(?:START|END)_ACTION\|>`,
    ...[...controls, ...wordControls].map((token) => token.replace(/[|[\]~]/g, '\\$&')),
  ].join('|'),
  'iy',
)

/** Marks of tool results. A model that writes one has invented the results instead of waiting for them. */
const results = new RegExp(
  `<\\|?tool_response>|<${prefix}function_results>|<｜tool${gap}outputs?${gap}begin｜>|\\[TOOL_RESULTS\\]`,
  'iy',
)

/** Reads a text that consists of calls, up to invented results; `undefined` = it contains other text. */
export function readTextCalls(text: string): readonly TextCall[] | undefined {
  const calls: TextCall[] = []
  for (let at = 0; at < text.length; ) {
    const next = matchAt(around, text, at)?.end
    const found = next === undefined ? readCallAt(text, at) : undefined
    if (calls.length > 0 && matchAt(results, text, at) !== undefined) break
    if (next === undefined && found === undefined) return undefined
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
