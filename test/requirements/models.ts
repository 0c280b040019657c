import type { Requirement } from './requirement.js'

/** Requirements of reasoning that a model provider returns: extracting, committing, and omitting it from prompts. */
export const modelRequirements = {
  T01: {
    source: 'trace-handling Design Decisions, §Commit Flow',
    text: 'Reasoning found in a model response is committed by default.',
  },
  T02: {
    source: 'trace-handling §Commit Flow',
    text: "Commit order: reasoning before assistant; the assistant's parent is the reasoning commit.",
  },
  T03: {
    source: 'trace-handling §Commit Flow',
    text: 'Step order of a generation: compile, call, text, reasoning, usage, commit reasoning, commit assistant, record usage, return.',
  },
  T04: {
    source: 'trace-handling §Tract.open',
    text: 'Global switch `commit_reasoning` on open, true by default.',
  },
  T05: {
    source: 'trace-handling §Per-call opt-out',
    text: 'Per-call switch: `generate({reasoning: false})` and `chat("hello", {reasoning: false})` extract but do not commit.',
  },
  T06: {
    source: 'trace-handling §Data Model',
    text: 'Content record `{content_type: "reasoning", text, format}`; `format` is `parsed` (default), `raw`, `think_tags` or `anthropic`.',
  },
  T07: {
    source: 'trace-handling §BUILTIN_TYPE_HINTS',
    text: 'Type hints of reasoning: default priority `skip`, default role `assistant`, compression priority 40.',
  },
  T08: {
    source: 'trace-handling §ChatResponse',
    text: 'Response fields: `text`, `reasoning`, `reasoning_commit`, `usage`, `commit_info`, `generation_config`, `prompt`, `tool_calls`, `raw_response`.',
  },
  T09: {
    source: 'trace-handling §Extraction Protocol',
    text: 'The extractor is an optional duck-typed method, not part of the client interface; without it reasoning handling is silently skipped.',
  },
  T10: {
    source: 'trace-handling §Extraction Protocol',
    text: 'The extractor returns text and format, or just text (then `parsed`), or nothing.',
  },
  T11: {
    source: 'trace-handling §Built-in auto-detect',
    text: 'Priority chain of the built-in client: `message.reasoning`, `message.reasoning_content`, content blocks of type `thinking`, `<think>` tags.',
  },
  T12: {
    source: 'trace-handling §Provider Landscape',
    text: 'Each provider form is read: Cerebras parsed, DeepSeek and Cerebras raw tags, Anthropic blocks (several joined), OpenAI `reasoning_content`.',
  },
  T13: {
    source: 'trace-handling §Built-in auto-detect',
    text: 'With tags, the answer text is clean.',
  },
  T14: {
    source: 'trace-handling §Provider Landscape (hidden)',
    text: 'Hidden reasoning: tokens counted, no text.',
  },
  T15: {
    source: 'trace-handling §Compile Behavior',
    text: '`compile()` leaves reasoning out.',
  },
  T16: {
    source: 'trace-handling §Override',
    text: '`compile({include_reasoning: true})` promotes default SKIP to NORMAL, in place and in order.',
  },
  T17: {
    source: 'trace-handling §Override, §Per-commit',
    text: 'Explicit annotations always win, both ways.',
  },
  T18: {
    source: 'trace-handling §Shorthand',
    text: 'Manual commit: `reasoning(text, {format, message, metadata})`, like `user()` and `assistant()`.',
  },
  T19: {
    source: 'trace-handling §Formatting',
    text: 'Distinct muted look in log, print and diff: the tag `[reasoning]` in a dim colour.',
  },
  T20: {
    source: 'trace-handling §Why It Matters, Non-goals',
    text: 'Provenance: see what any agent thought at step N; filter the log by content type; reasoning tokens accounted; compression may treat it apart.',
  },
} satisfies Record<string, Requirement>
