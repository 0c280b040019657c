export interface TagCase {
  readonly name: string
  readonly content: string
  readonly reasoning: string | null
  readonly text: string
  readonly truncated?: true
  readonly prefilled?: true
  /** Set if a text is only classified correctly after it was already emitted. */
  readonly late?: true
}

type More = Pick<TagCase, 'truncated' | 'prefilled' | 'late'>
const c = (
  name: string,
  content: string,
  reasoning: string | null,
  text: string,
  more: More = {},
): TagCase => ({
  name,
  content,
  reasoning,
  text,
  ...more,
})
const same = (name: string, content: string): TagCase => c(name, content, null, content)
const [cut, prefilled, late] = [{ truncated: true }, { prefilled: true }, { late: true }] as const
const fence = '```'

const kinds: readonly (readonly [open: string, close: string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<reason>', '</reason>'],
  ['<reasoning>', '</reasoning>'],
  ['<thought>', '</thought>'],
  ['<THINK>', '</Think>'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['◁think▷', '◁/think▷'],
  ['[THINK]', '[/THINK]'],
  ['<budget:thinking>', '</budget:thinking>'],
  ['<mm:think>', '</mm:think>'],
  ['<seed:think>', '</seed:think>'],
  ['<|channel|>analysis<|message|>', '<|end|>'],
  ['<|channel>thought\n', '<channel|>'],
  ['<unused94>thought\n', '<unused95>'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['<|inner_prefix|>', '<|inner_suffix|>'],
]

/** Marks with which models begin tool calls that they write as text. */
const callMarkers = [
  '<tool_calls>',
  '<function_calls>',
  '<function=f>',
  '<invoke name="f">',
  '<minimax:tool_call>',
  '<seed:tool_call>',
  '<|tool_calls_section_begin|>',
  '<|python_tag|>',
  '<TOOL_CALL>',
]

/** Control tokens of several models. */
const controlTokens = [
  ...['<eos>', '<|im_end|>', '<end_of_turn>', '</s>', '<|eot_id|>', '<|endoftext|>', '<turn|>'],
  ...['<｜end▁of▁sentence｜>', '<|return|>', '<|EOT|>', '[e~[', '<|END_OF_TURN_TOKEN|>'],
]

const moreCases: readonly TagCase[] = [
  ...callMarkers.map((marker) =>
    c(`a call that begins with ${marker}`, `<think>a${marker}{}`, 'a', `${marker}{}`),
  ),
  ...callMarkers.map((marker) =>
    c(
      `a thought that goes on after ${marker}`,
      `<think>a${marker}{} b</think>c`,
      `a${marker}{} b`,
      'c',
      late,
    ),
  ),
  c('a thought that speaks of a call, without an end', '<think>a <tool_call> b', 'a <tool_call> b', '', {
    ...cut,
    ...late,
  }),

  c('lines that end as on Windows', '<think>\r\na\r\nb\r\n</think>\r\n\r\nc\r\nd', 'a\r\nb', 'c\r\nd'),
  c('a mark of the order of bytes', '\uFEFF<think>a</think>b', 'a', 'b'),
  c('tags in capitals', '<|BEGIN_OF_THOUGHT|>a<|End_of_Thought|><REASONING>b</reasoning>c', 'a\n\nb', 'c'),
  c('nothing but surrogates around', '<think>🛑</think>🛑', '🛑', '🛑'),
  c('half a surrogate', '<think>\uD83D</think>\uDED1', '\uD83D', '\uDED1'),
  c('a beginning of another kind in the beginning', '<think><reasoning>a</reasoning></think>b', 'a', 'b'),
  c(
    'a tag that looks almost like the end',
    '<think>a</ think></think >b</think>c',
    'a</ think></think >b',
    'c',
  ),
  c('many angle brackets before the end', '<think>a <<<</think>>b', 'a <<<', '>b'),
  c('an end that begins twice', '<think>a</thi</think>b', 'a</thi', 'b'),
  c('a beginning that begins twice', '<thi<think>a</think>b', 'a', '<thib'),
  same('a tag that closes itself', '<think/>a'),
  same('a tag with an attribute', '<think depth="3">a'),
  same('a tag with a space', '<think >a'),
  same(
    'a fence at the beginning, lines that end as on Windows',
    `${fence}\r\n<think>a</think>\r\n${fence}\r\nb`,
  ),
  same('an end in a fence, lines that end as on Windows', `So:\r\n${fence}\r\n</think>\r\n${fence}\r\n`),
  same('an end in a fence in a quote', `> ${fence}\n> </think>\n> ${fence}\n`),
  c(
    'a fence in it, lines that end as on Windows',
    `<think>a\r\n${fence}\r\n</think>\r\n${fence}\r\nb</think>c`,
    `a\r\n${fence}\r\n</think>\r\n${fence}\r\nb`,
    'c',
  ),
  c(
    'a code block without a thought, and one after it',
    `<think>a</think>${fence}\nx\n${fence}`,
    'a',
    `${fence}\nx\n${fence}`,
  ),

  c('the template begins it, and the end is in capitals', 'a</THINK>b', 'a', 'b', prefilled),
  c('the template begins it, lines that end as on Windows', 'a\r\n</think>\r\n\r\nb', 'a', 'b', prefilled),
  c(
    'the template begins it, and another follows',
    'a</think>b\n<think>c</think>d',
    'a\n\nc',
    'b\nd',
    prefilled,
  ),
  c('the template begins it, and a call ends it', 'a<tool_call>{}', 'a', '<tool_call>{}', prefilled),
  c(
    'the template begins it, and an end is in backticks',
    'a `</think>` b</think>c',
    'a `</think>` b',
    'c',
    prefilled,
  ),
  c(
    'the template begins it, for gpt-oss',
    'a<|end|><|start|>assistant<|channel|>final<|message|>b',
    'a',
    'b',
    prefilled,
  ),
  c('the template begins it, and half an end comes', 'a</thin', 'a', '', { ...prefilled, ...cut }),
  c('white space, and the template begins it', ' \n a </think> b', 'a', 'b', prefilled),
]

export const tagCases: readonly TagCase[] = [
  ...moreCases,

  ...kinds.map(([open, close]) => c(`${open}`, `${open}a < b${close}c`, 'a < b', 'c')),

  c('white space around it', '\n  <think>\n\na\n\n</think>\n\n b', 'a', 'b'),
  c('white space within it', '<think>a\n\n  b</think>c\n\n  d\n', 'a\n\n  b', 'c\n\n  d\n'),
  c('an empty thought', '<think>\n\n</think>\n\nb', null, 'b'),
  c('only a thought', '<think>a</think>', 'a', ''),
  c('only an empty thought', '<think></think>', null, ''),
  c('characters beyond the first plane', '<think>𝒂🛑</think>𝒃👟', '𝒂🛑', '𝒃👟'),
  c(
    'what looks like a tag in it',
    '<think>a <thin </thin </thinkk> <b></think>c',
    'a <thin </thin </thinkk> <b>',
    'c',
  ),
  c('the tag of another kind in it', '<think>a</thinking>b[/THINK]c</think>d', 'a</thinking>b[/THINK]c', 'd'),
  c('a tag in it', '<think>they say <think> is</think>b', 'they say <think> is', 'b'),
  c('a tag that is doubled', '<think>\n<think>a</think>b', 'a', 'b'),
  c('an end that is doubled', '<think>a</think>\n</think>b', 'a', 'b'),
  c('markup in the answer', '<think>a</think><b>x</b> [1] ◁ 1 < 2', 'a', '<b>x</b> [1] ◁ 1 < 2'),

  same('no tag', 'plain text\n'),
  same('nothing', ''),
  same('white space alone', ' \n '),
  c('a tag in the midst of an answer', 'Hello <think>a</think> world', 'a', 'Hello world'),
  c('a tag at the beginning of a later line', 'Hello\n<think>a</think>\nworld', 'a', 'Hello\nworld'),
  c('a tag after a heading', '## So\n\n<think>a</think>\n\nb', 'a', '## So\n\nb'),
  c('a tag after what is not seen', '\u200B<think>a</think>b', 'a', '\u200Bb'),
  c('a tag in the midst, without an end', 'Let me see.\n\n<think>a\nb', 'a\nb', 'Let me see.\n\n', cut),
  c('a tag in a line, without an end', 'Let me see. <think>a\nb', 'a\nb', 'Let me see. ', cut),
  c('a tag in a sentence, before many lines', 'Use <think>\na', 'a', 'Use ', cut),
  c('an element of a document', 'Say <reason>a</reason>, please', null, 'Say <reason>a</reason>, please'),
  c('such an element on a line of its own', 'So:\n<reasoning>a</reasoning>\nb', 'a', 'So:\nb'),
  c('a tag behind a stray backtick', 'It`s\u00a0so. <think>a\nb</think>c', 'a\nb', 'It`s\u00a0so. c'),
  c('a tag behind a stray backtick, without an end', 'It`s so. <think>a', 'a', 'It`s so. ', cut),
  c('a control token behind a stray backtick', 'It`s 5.<eos>', null, 'It`s 5.'),
  c(
    'a tag after a fence that begins within a line',
    `So:${fence}js\nf()\n${fence}\n<think>a</think>b`,
    'a',
    `So:${fence}js\nf()\n${fence}\nb`,
  ),
  same('a tag in a fence that begins within a line', `So:${fence}xml\n<think>a</think>\n${fence}\nb`),
  same('a tag between quotation marks', 'It writes "<think>" and “</think>”.'),
  c('a beginning without an end in a sentence', 'Use <think> for that', null, 'Use <think> for that', late),
  same('a tag in backticks at the beginning', '`<think>` begins and `</think>` ends it'),
  same('a fence at the beginning', `${fence}\n<think>a</think>\n${fence}\n`),
  same('a fence of tildes', 'So:\n~~~\n</think>\n~~~\nyes'),
  same('an end in backticks', 'It ends with `</think>`, always'),
  same('an end in a fence', `So:\n${fence}xml\na</think>\n${fence}\nyes`),
  same('an end in a fence in a list', `- ${fence}\n  a</think>\n  ${fence}\n`),
  same('an end in a fence that holds a shorter one', '````\n```\n</think>\n````\n'),
  same('an end in two backticks', 'Write `` </think>` `` there'),
  same('half a tag', '<thin'),
  same('half a tag and more', '<thinly'),
  same('a tag with something in it', '<think about="it">a</think about>'),
  c('the end of a message of another model', 'a<|end|>b', null, 'ab'),
  ...controlTokens.map((each) => c(`${each} at the end`, `It is 5.${each}`, null, 'It is 5.')),
  ...controlTokens.map((each) => c(`${each} alone`, each, null, '')),
  ...controlTokens.map((each) => same(`${each} in backticks`, `Write \`${each}\` there`)),
  c('several control tokens', 'a<|im_end|>\n<|im_start|>assistant', null, 'a\n'),
  same('an element that is struck out', 'It was <s>4</s> and is 5'),
  same('what is no control token within a sentence', 'The <eos> token ends it'),
  c('a control token before a thought', '<|im_start|>assistant\n<think>a</think>b<|im_end|>', 'a', 'b'),
  same('a tool call', '<tool_call>{"name":"x"}</tool_call>'),

  c('no end', '<think>a\nb', 'a\nb', '', cut),
  c('no end, and nothing in it', '<think>', null, '', cut),
  c('half an end', '<think>a\n</thi', 'a', '', cut),
  c('half a tool call', '<think>a <tool_c', 'a <tool_c', '', cut),
  c('no end, and a fence', `<think>a\n${fence}\nb`, `a\n${fence}\nb`, '', cut),
  c('an end of another kind', '<think>a</reasoning>b', 'a</reasoning>b', '', cut),

  c('the template begins it', 'a\n</think>\n\nb', 'a', 'b', prefilled),
  c('the template and the model begin it', '<think>\na</think>b', 'a', 'b', prefilled),
  c('the template begins it, another tag', 'a[/THINK]b', 'a', 'b', prefilled),
  c('the template begins it, and it has no end', 'a', 'a', '', { ...prefilled, ...cut }),
  c('the template begins it, and it is empty', '</think>b', null, 'b', prefilled),
  c('the template begins it, and nothing comes', '', null, '', prefilled),
  c('nobody says that the template begins it', 'a\n</think>\n\nb', 'a', 'b', late),
  c('nobody says that the template of Gemma 4 begins it', 'a\n<channel|>b', 'a', 'b', late),
  c('an end is all there is of it', '\n</think>\n\nb', null, 'b'),
  c('thoughts that speak of an end', '<think>a "</think>" b</think>c', 'a "</think>" b', 'c', late),
  c('thoughts in thoughts', '<think>a<think>b</think>c</think>d', 'a<think>b</think>c', 'd', late),

  c('two thoughts', '<think>a</think>\n<think>b</think>c', 'a\n\nb', 'c'),
  c('two thoughts of two kinds', '<think>a</think><reasoning>b</reasoning>c', 'a\n\nb', 'c'),
  c('a thought in the midst, after one', '<think>a</think>b\n\n<think>c</think>\n\nd', 'a\n\nc', 'b\n\nd'),
  c('a thought in a line, after one', '<think>a</think>b <think>c</think> d', 'a\n\nc', 'b d'),
  c('a thought in a word, after one', '<think>a</think>b<think>c</think> d', 'a\n\nc', 'b d'),
  c('a stray backtick in the first', '<think>it`s</think>b <think>c</think>d', 'it`s\n\nc', 'b d'),
  c('a later thought without an end', '<think>a</think>b\n<think>c', 'a\n\nc', 'b\n', cut),
  c('a later tag that is only spoken of', '<think>a</think>Use <think> now', 'a', 'Use <think> now', late),
  c(
    'a later tag in backticks',
    '<think>a</think>Use `<think>b</think>` now',
    'a',
    'Use `<think>b</think>` now',
  ),
  c(
    'a later tag in a fence',
    `<think>a</think>${fence}\n<think>b</think>\n${fence}\n<think>c</think>d`,
    'a\n\nc',
    `${fence}\n<think>b</think>\n${fence}\nd`,
  ),
  c('a stray backtick on an earlier line', '<think>a</think>it`s\n<think>b</think>c', 'a\n\nb', 'it`s\nc'),

  c('an end in backticks in it', '<think>write `</think>` there</think>b', 'write `</think>` there', 'b'),
  c(
    'a fence in it',
    `<think>a\n${fence}\n</think>\n${fence}\nb</think>c`,
    `a\n${fence}\n</think>\n${fence}\nb`,
    'c',
  ),
  c(
    'a fence in it that is never closed',
    `<think>a\n${fence}js\nf()\n</think>\n\nb ${fence} c`,
    `a\n${fence}js\nf()`,
    `b ${fence} c`,
    late,
  ),
  c('a stray backtick in it', '<think>it`s a</think>`b`', 'it`s a', '`b`'),

  c('a tool call ends it', '<think>a\n<tool_call>{"x":1}</tool_call>', 'a', '<tool_call>{"x":1}</tool_call>'),
  c(
    'a tool call, and then its end',
    '<think>a<tool_call>{}</tool_call></think>b',
    'a',
    '<tool_call>{}</tool_call>b',
  ),
  c('a tool call of DeepSeek', '<think>a<｜tool▁calls▁begin｜>{}', 'a', '<｜tool▁calls▁begin｜>{}'),
  c('a tool call of Mistral', '[THINK]a[TOOL_CALLS]{}', 'a', '[TOOL_CALLS]{}'),
  c('a tool call in backticks in it', '<think>a `<tool_call>` b</think>c', 'a `<tool_call>` b', 'c'),

  c(
    'the format of gpt-oss',
    '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>',
    'a',
    'b',
  ),
  c('gpt-oss without special tokens', 'analysisa < bassistantfinalc', 'a < b', 'c'),
  c('its answer without special tokens', 'assistantfinalc', null, 'c'),
  c('it is cut off', 'analysisWe think.', 'We think.', '', cut),
  c('it is cut off, in small letters', 'analysiswe think', 'we think', '', cut),
  c('it is cut off, in other letters', 'analysis“我想', '“我想', '', cut),
  c('it begins as a message', 'assistantanalysisaassistantfinalb', 'a', 'b'),
  c('it follows an answer', 'b. assistantanalysisa', 'a', 'b. ', cut),
  c('a commentary in it', 'analysisaassistantcommentaryb. assistantfinalc', 'a', 'b. c'),
  c('a call in it', 'analysisa.assistantcommentary to=f json{}', 'a.', 'assistantcommentary to=f json{}'),
  c('a call and more in it', 'analysisAassistantcommentary to=f {}B', 'Aassistantcommentary to=f {}B', '', {
    ...cut,
    ...late,
  }),
  c('a name in a program before it', 'analysisWork.run() ends', null, 'analysisWork.run() ends', late),
  same('names in a program', 'The AssistantAnalysis and assistantFinal of assistantAnalysis.'),
  same('an analysis', 'analysis of it, assistantfinal or not'),
  same('an analysis with a colon', 'analysis: 5'),
  same('an analysis that is told of', 'The analysisA wasassistantfinal 5'),
  same('an analysis in backticks', '`analysisA` is before `assistantfinal`'),
  same('an analysis in capitals', 'AnalysisA wasassistantfinal 5'),
  c('an analysis in tags', '<think>analysisA</think>b', 'analysisA', 'b'),
  c('an analysis that the template begins', 'analysisA</think>b', 'analysisA', 'b', prefilled),
  same('nothing but the word', 'analysis'),
  c(
    'two thoughts in it',
    '<|start|>assistant<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|>c',
    'a\n\nb',
    'c',
  ),
  c('an answer alone in it', '<|channel|>final<|message|>b', null, 'b'),
  c(
    'a tool call in it',
    '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=f<|message|>{}<|call|>',
    'a',
    '<|channel|>commentary to=f<|message|>{}<|call|>',
  ),
  c(
    'a solution after a thought',
    '<|begin_of_thought|>\na\n<|end_of_thought|>\n\n<|begin_of_solution|>\nb\n<|end_of_solution|>',
    'a',
    'b\n',
  ),
]
