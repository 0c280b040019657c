const unusual = /[^\t\n\r -~]/
/** Matches a letter or emoji; between two of them a joiner may be legitimate. */
const visible = '[^\\p{ASCII}\\p{Default_Ignorable_Code_Point}]'
/** Matches invisible and control characters, except joiners and selectors that a script or an emoji needs. */
const invisible = new RegExp(
  [
    '(?![\\t\\n\\r\\ufe0e\\ufe0f\\u200c\\u200d])[\\p{Default_Ignorable_Code_Point}\\p{Cc}]',
    `[\\u200c\\u200d](?<!${visible}\\ufe0f?.)`,
    `[\\u200c\\u200d](?!${visible})`,
  ].join('|'),
  'gu',
)

/** Matches markers of roles and turns. Lookbehinds come last, so that they are rarely evaluated and matching stays linear. */
const markers = new RegExp(
  [
    // <|im_start|>, <|eot_id|>, <|START_OF_TURN_TOKEN|>: ChatML, GPT, Llama, Phi, Command. <｜User｜>: DeepSeek.
    '<\\|/?[\\w./:-]{1,64}\\|>|<｜[^｜<>\\n]{1,64}｜>',
    // Llama, Mistral
    '</?s>(?<!\\w<s>)|<</?SYS>>',
    '\\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\\]',
    // Gemma, Command
    '</?(?:bos|eos|start_of_turn|end_of_turn|BOS_TOKEN|EOS_TOKEN)>',
    // Beginnings of lines in transcripts and in prompts of the Alpaca format
    '(?:Human|HUMAN|Assistant|ASSISTANT)(?=:)(?<=^[ \\t]*(?:#{1,6} )?\\w+)',
    '(?:System|SYSTEM|User|USER)(?=:)(?<=\\n[ \\t\\r]*\\n(?:#{1,6} )?\\w+)',
    '(?:Instruction|Response)(?=:)(?<=^### \\w+)',
  ].join('|'),
  'gm',
)

/**
 * Matches roles and tool calls as tags, such as `<system>` and `</tool_call>`. Of a tag that contains another one, matches only
 * the beginning.
 */
const tags = new RegExp(
  `</?(?:${[
    'system|assistant|human|invoke|antml:\\w{1,64}',
    'system[-_](?:prompt|message|reminder|instructions?)',
    'tool[-_](?:calls?|code|outputs?|responses?|results?|uses?)',
    'function[-_](?:calls?|outputs?|responses?|results?)',
    '(?:function|parameter)(?==)',
  ].join('|')})(?=[\\s=/>])(?:[^<>]{0,200}>)?`,
  'gi',
)

/**
 * Removes instructions to a model: markers of roles, turns and tool calls become words in `‹›`, and invisible characters are
 * dropped. Everything else is unchanged, including `<`, `>` and `&`.
 */
export function sanitize(text: string): string {
  const seen = unusual.test(text) ? text.replace(invisible, '') : text
  const hasTags = seen.includes('<')
  if (!hasTags && !seen.includes(':') && !seen.includes('[')) return seen
  const unmarked = seen.replace(markers, quote)
  if (!hasTags) return unmarked
  return unmarked.replace(tags, (tag, at: number) =>
    isType(tag, unmarked.charAt(at - 1)) ? tag : quote(tag),
  )
}

const brackets = /^[<[]+|[>\]]+$/g
const quote = (marker: string): string => `‹${marker.replace(brackets, '')}›`

/** `List<System>` is a type, not a tag. */
const isType = (tag: string, before: string): boolean => /^<[A-Z]/.test(tag) && /\w/.test(before)
