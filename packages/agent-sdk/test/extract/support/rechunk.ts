/** Paths of the texts that arrive in pieces in the streams of providers. */
const texts = [
  /^choices\.0\.delta\.(?:content|reasoning|reasoning_content|function_call\.arguments)$/,
  /^choices\.0\.delta\.content\.\d+\.(?:text|thinking(?:\.\d+\.text)?)$/,
  /^choices\.0\.delta\.reasoning_details\.\d+\.(?:text|summary)$/,
  /^choices\.0\.delta\.tool_calls\.\d+\.function\.arguments$/,
  /^choices\.0\.text$/,
  /^output\.choices\.0\.message\.(?:content(?:\.\d+\.text)?|reasoning_content)$/,
  /^delta$/,
  /^delta\.(?:thinking|text|partial_json)$/,
  /^delta\.message\.(?:content\.(?:text|thinking)|tool_plan|tool_calls\.function\.arguments)$/,
  /^(?:contentBlockDelta\.)?delta\.(?:text|reasoningContent\.text|toolUse\.input)$/,
  /^candidates\.0\.content\.parts\.\d+\.text$/,
  /^message\.(?:content|thinking)$/,
  /^(?:text|response|thinking)$/,
]
/** Matches chunks that cannot be split, because content would be repeated: the end, a signature, a name, or another choice. */
const isSaidOnce =
  /"(?:finish_reason|done_reason|finishReason|stopReason|thoughtSignature|name)":"(?!null)|"done":true|"choices":\[\{"index":1/

type Path = readonly string[]

/** Splits a chunk into one chunk per character of its text. Unchanged if it has no text, or several. */
export function rechunked(chunk: unknown): unknown[] {
  const leaves = [...walkLeaves(chunk, [])].filter(({ path }) =>
    texts.some((each) => each.test(path.join('.'))),
  )
  const [text, ...others] = new Set(leaves.map(({ value }) => value))
  if (text === undefined || others.length > 0 || isSaidOnce.test(JSON.stringify(chunk))) return [chunk]
  // Also splits surrogate pairs.
  return text.split('').map((piece) => leaves.reduce((whole, { path }) => put(whole, path, piece), chunk))
}

function* walkLeaves(value: unknown, path: Path): Generator<{ path: Path; value: string }> {
  if (typeof value === 'string' && value !== '') yield { path, value }
  if (typeof value !== 'object' || value === null) return
  for (const [name, each] of Object.entries(value)) yield* walkLeaves(each, [...path, name])
}

function put(whole: unknown, [name, ...rest]: Path, text: string): unknown {
  if (name === undefined) return text
  const inner = put((whole as Readonly<Record<string, unknown>>)[name], rest, text)
  return Array.isArray(whole) ? whole.with(Number(name), inner) : { ...(whole as object), [name]: inner }
}
