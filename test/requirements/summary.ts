import type { Requirement } from './requirement.js'

/** Requirements of turns and rationales: why each tool was called, and how that is stored, guarded and displayed. */
export const summaryRequirements = {
  I01: {
    source: 'reasoning-summary §2.1, §12',
    text: 'Per-turn reasoning lives in the in-memory Session/Thread/Turn model for the whole session: no TTL, no rolling window, dropped only when the session is evicted or the process ends.',
  },
  I02: {
    source: 'reasoning-summary §2.2, §4.2',
    text: "Per-tool reasoning is threaded from the model's tool selection into the tool call.",
  },
  I03: {
    source: 'reasoning-summary §5.1, §15.3',
    text: 'Every tool decision stores a non-empty rationale, real or fallback, parallel batches included.',
  },
  I04: {
    source: 'reasoning-summary §5.2',
    text: 'Turn-level narrative is optional and never a substitute for a rationale.',
  },
  I05: {
    source: 'reasoning-summary §5.1-5.2',
    text: 'Turn records keep user input, response, tool calls, state, start, end, error and optional narrative; call records keep name, parameters, result, error, rationale and optional parallel group.',
  },
  I06: {
    source: 'reasoning-summary §5.3',
    text: 'The user-facing label is always `reasoning`; inside, turn-level is `narrative`, tool-level is `rationale`.',
  },
  I07: {
    source: 'reasoning-summary §6, §6.1',
    text: 'All reasoning text passes the full safety pipeline before storage or output: length guard, leak detector (15 or more secret patterns), policy, injection sanitizer.',
  },
  I08: {
    source: 'reasoning-summary §6.2',
    text: 'Sanitise once, at write time, per narrative and per tool; reads add nothing.',
  },
  I09: {
    source: 'reasoning-summary §6.2',
    text: 'A blocked or truncated-sentinel narrative becomes none; the turn continues, a warning is logged.',
  },
  I10: {
    source: 'reasoning-summary §6.2',
    text: 'A blocked or missing rationale becomes exactly `Tool selected to satisfy the current subtask.`; the turn continues, a warning is logged.',
  },
  I11: {
    source: 'reasoning-summary §15.2',
    text: 'A redacted (not blocked) rationale is kept in redacted form, non-empty.',
  },
  I12: {
    source: 'reasoning-summary §6.2, §16',
    text: 'Reasoning capture problems never block or fail the agent loop.',
  },
  I13: {
    source: 'reasoning-summary §3, §6.3',
    text: 'No raw chain-of-thought: `<thinking>` is stripped before anything is captured.',
  },
  I14: {
    source: 'reasoning-summary §3, §16.2',
    text: 'No extra model call and no token cost to make narratives; `alternatives` is omitted.',
  },
  I15: {
    source: 'reasoning-summary §7.1',
    text: 'The CLI prints a reasoning block by itself after every turn with tool calls: after the final response, before the next prompt, preceded by a blank line, under the header `┄ Reasoning (turn 4)`.',
  },
  I16: {
    source: 'reasoning-summary §7.1',
    text: 'Lines of a block entry: tool name and quoted rationale, `params: { ... }`, `→ <outcome>`.',
  },
  I17: {
    source: 'reasoning-summary §7.1',
    text: 'Params show redacted sensitive values and are cut to 200 characters.',
  },
  I18: {
    source: 'reasoning-summary §10.2, §7.1',
    text: 'Parallel batches in the CLI block: `┄ [parallel batch 0]`, then one `↳` entry per tool.',
  },
  I19: {
    source: 'reasoning-summary §7.1, §15.3',
    text: 'The block appears whenever tool calls occurred; a missing narrative only drops the `Narrative:` line.',
  },
  I20: {
    source: 'reasoning-summary §7.1',
    text: 'Live status lines (`○ Thinking...`, `○ <tool>`, `● <tool>`, `▸ <preview>`) and colours: dim gray section, cyan tool names.',
  },
  I21: {
    source: 'reasoning-summary §7.2',
    text: '`/reasoning` shows the most recent completed turn, `/reasoning N` turn N (1-based), `/reasoning all` every turn of the active thread.',
  },
  I22: {
    source: 'reasoning-summary §7.2, §14.4',
    text: 'Output format of `/reasoning N`: header `┄ Reasoning — turn 2`, narrative, then rationale, params and outcome of each tool.',
  },
  I23: {
    source: 'reasoning-summary §7.2',
    text: 'The three error lines, exact: `✗ No reasoning data for turn N in this thread.`, `─ Turn N had no tool calls.`, `─ No reasoning recorded for turn N.`',
  },
  I24: {
    source: 'reasoning-summary §7.2, §15.2',
    text: '`/reasoning` is registered as a slash command (completion), listed in help under `Inspection`, and routed as a message.',
  },
  I25: {
    source: 'reasoning-summary §8.1, §8.4',
    text: 'Reasoning is inline in the history response; no new endpoint is needed.',
  },
  I26: {
    source: 'reasoning-summary §8.1',
    text: 'TurnInfo has `turn_number`, `user_input`, `response`, `state`, `started_at`, `completed_at`, `tool_calls`, `reasoning`.',
  },
  I27: {
    source: 'reasoning-summary §8.2, §8.3',
    text: 'The reasoning object is keyed by session, thread and turn number; it has `narrative` and `tool_decisions`, each with `tool_name`, `rationale`, `parameters`, `outcome` (`success`, `error` or `rejected`) and `parallel_group`.',
  },
  I28: {
    source: 'reasoning-summary §8.1, §14.2',
    text: '`reasoning` is null or omitted for turns with no tool calls, turns recorded before the feature, and blocked content.',
  },
  I29: {
    source: 'reasoning-summary §14',
    text: 'Turn numbers are 1-based wherever a user sees them.',
  },
  I30: {
    source: 'reasoning-summary §9.1, §9.3',
    text: 'SSE `reasoning_update` carries `type`, `thread_id`, `session_id`, `turn_number`, optional `narrative`, and `tool_decisions`.',
  },
  I31: {
    source: 'reasoning-summary §9.1 Note',
    text: 'SSE never carries `parameters`.',
  },
  I32: {
    source: 'reasoning-summary §9.2',
    text: '`reasoning_update` is emitted once per loop iteration that involves tools, after all its tools ended, with the cumulative decisions of the turn.',
  },
  I33: {
    source: 'reasoning-summary §4.3, §9.4, §11.2',
    text: 'The worker path posts its own structured reasoning event beside the existing `tool_use` and `tool_result`.',
  },
  I34: {
    source: 'reasoning-summary §9.4',
    text: 'The orchestrator maps the reasoning event of a worker to SSE `job_reasoning`, which the web client renders.',
  },
  I35: {
    source: 'reasoning-summary §10.1, §11.1',
    text: 'Group assignment: one runnable tool has none; several share the counter value, which then grows by one per concurrent run, per turn.',
  },
  I36: {
    source: 'reasoning-summary §10.3',
    text: 'No nested group structure in JSON; clients group by equal values.',
  },
  I37: {
    source: 'reasoning-summary §17 async-patterns',
    text: 'A lock or critical section is released before events are emitted.',
  },
  I38: {
    source: 'reasoning-summary §15.3',
    text: '`narrative` is absent for turns without tools and when the model sent no text with its tool calls.',
  },
  I39: {
    source: 'reasoning-summary §15.3',
    text: 'Sanitised reasoning never contains raw API keys, tokens or private keys.',
  },
  I40: {
    source: 'reasoning-summary §15.2',
    text: 'The ten tests that the document names exist.',
  },
  I41: {
    source: 'reasoning-summary §15.1, §15.3',
    text: 'Quality gates, carried over to TypeScript: strict build, lint, all package and storage variants; reasoning paths never throw; no skipped error handling; the feature list names `Agent Reasoning Summary`.',
  },
} satisfies Record<string, Requirement>
