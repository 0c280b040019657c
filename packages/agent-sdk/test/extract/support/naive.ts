/** The content of a response, read by a simple independent parser: each text is classified by its path only. */
export interface Naive {
  readonly reasoning: string | null
  readonly text: string
  readonly toolCalls: readonly { id: string; name: string; arguments: unknown }[]
  readonly tokens: number | undefined
  /** Data that has to be sent back to the provider unchanged. */
  readonly signatures: readonly string[]
}

interface Leaf {
  readonly path: string
  readonly value: unknown
  /** The chunk that contains this value. */
  readonly chunk: Chunk
  /** The innermost object that contains this value. */
  readonly owner: Chunk
}
type Chunk = Readonly<Record<string, unknown>>

const reasoningPaths = [
  /^choices\.0\.(?:delta|message)\.(?:reasoning|reasoning_content)$/,
  /^choices\.0\.(?:delta|message)\.content\.\d+\.thinking\.\d+\.text$/,
  /^(?:content\.\d+|delta|content_block)\.thinking$/,
  /^(?:delta\.)?message\.content(?:\.\d+)?\.thinking$/,
  /reasoningContent\.(?:reasoningText\.)?text$/,
  /^output\.\d+\.summary\.\d+\.text$/,
]
const textPaths = [
  /^choices\.0\.(?:delta|message)\.content(?:\.\d+\.text)?$/,
  /^(?:content\.\d+|(?:contentBlockDelta\.)?delta|content_block)\.text$/,
  /^(?:delta\.|output\.)?message\.content(?:\.\d+)?\.text$/,
  /^output\.\d+\.content\.\d+\.text$/,
  /^candidates\.0\.content\.parts\.\d+\.text$/,
]
const counts = /(?:reasoning_tokens|thinking_tokens|thoughtsTokenCount)$/
const signed = /(?:signature|thoughtSignature|encrypted_content|redacted_thinking\.data|content_block\.data)$/

export function naive(chunks: readonly unknown[]): Naive {
  const leaves = chunks.flatMap((chunk) => [...walkLeaves(chunk, '', chunk as Chunk, chunk as Chunk)])
  const thoughts = leaves.filter(isReasoning)
  const parts = [...new Set(thoughts.map(getPart))].map((part) =>
    thoughts
      .filter((each) => getPart(each) === part)
      .map(({ value }) => value)
      .join(''),
  )
  const reasoning = parts.filter((part) => part !== '').join('\n\n')
  const text = leaves
    .filter(isText)
    .map(({ value }) => value)
    .join('')
  const [, inTags, after] = /^\s*<think>([\s\S]*?)<\/think>\s*([\s\S]*)$/.exec(text) ?? []
  return {
    reasoning: inTags?.trim() ?? (reasoning === '' ? null : reasoning),
    text: after ?? text,
    toolCalls: collectCalls(leaves),
    tokens: leaves.filter(({ path }) => counts.test(path)).at(-1)?.value as number | undefined,
    signatures: leaves
      .filter(
        ({ path, chunk }) => signed.test(path) && !/\.(?:created|added|in_progress)$/.test(`${chunk.type}`),
      )
      .map(({ value }) => String(value))
      .filter((value) => value !== ''),
  }
}

function* walkLeaves(value: unknown, path: string, chunk: Chunk, owner: Chunk): Generator<Leaf> {
  // The last event of OpenAI's Responses API repeats the whole response; only its usage is new.
  if (path === 'response' && String(chunk.type).startsWith('response.')) {
    yield* walkLeaves((value as Chunk).usage, 'usage', chunk, value as Chunk)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      yield* walkLeaves(each, path === '' ? name : `${path}.${name}`, chunk, value as Chunk)
    }
  } else if (value !== null && value !== undefined) yield { path, value, chunk, owner }
}

const isReasoning = ({ path, value, chunk }: Leaf): boolean =>
  typeof value === 'string' &&
  (reasoningPaths.some((each) => each.test(path)) ||
    (path === 'delta' && chunk.type === 'response.reasoning_summary_text.delta'))

const isText = ({ path, value, chunk, owner }: Leaf): boolean =>
  typeof value === 'string' &&
  owner.thought !== true &&
  (textPaths.some((each) => each.test(path)) ||
    (path === 'delta' && chunk.type === 'response.output_text.delta'))

const getPart = ({ path, chunk }: Leaf): string =>
  [chunk.index, chunk.contentBlockIndex, chunk.item_id, chunk.summary_index, path.replace(/\D+/g, ' ')].join(
    ' ',
  )

/** Collects calls in OpenAI's two forms and Anthropic's. A stream may contain at most one call. */
function collectCalls(leaves: readonly Leaf[]): Naive['toolCalls'] {
  const owners = [...new Set(leaves.map(({ owner }) => owner))]
  const chunkByOwner = new Map(leaves.map(({ owner, chunk }) => [owner, chunk]))
  const blocks = owners.filter(({ type }) => type === 'tool_use')
  const items = owners.filter(
    (owner) =>
      owner.type === 'function_call' && chunkByOwner.get(owner)?.type !== 'response.output_item.added',
  )
  const pieces = leaves.filter(({ path }) =>
    /^choices\.0\.(?:delta|message)\.tool_calls\.0\.function\.arguments$/.test(path),
  )
  const json = pieces.map(({ value }) => value).join('')
  const named = (pattern: RegExp) => String(leaves.find(({ path }) => pattern.test(path))?.value)
  return [
    ...blocks.map(({ id, name, input }) => ({ id: String(id), name: String(name), arguments: input ?? {} })),
    ...items.map((item) => ({
      id: String(item.call_id),
      name: String(item.name),
      arguments: JSON.parse(String(item.arguments)),
    })),
    ...(json === ''
      ? []
      : [
          {
            id: named(/tool_calls\.0\.id$/),
            name: named(/tool_calls\.0\.function\.name$/),
            arguments: JSON.parse(json),
          },
        ]),
  ]
}
