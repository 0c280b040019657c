import type { Requirement } from './requirement.js'

/** Requirements of the append-only record of reasoning steps, and of queries on it. */
export const auditRequirements = {
  A01: {
    source: 'audit-log §Schema',
    text: 'Table `reasoning_steps` has the columns `id`, `turn_id`, `step_number`, `phase`, `content`, `linked_tool_call`, `linked_policy_decision`, `linked_approval_request`, `created_at`.',
  },
  A02: {
    source: 'audit-log §Schema',
    text: 'Three indexes, used by the queries: by turn, by phase, by time of creation.',
  },
  A03: {
    source: 'audit-log §Column rationale',
    text: 'Ids are ULIDs, time-sortable.',
  },
  A04: {
    source: 'audit-log §Schema',
    text: '`step_number` is 0-based and orders a turn even when timestamps collide.',
  },
  A05: {
    source: 'audit-log §Phase Definitions',
    text: 'Five phases and labels: `thinking` [思考], `plan` [計画], `waiting_approval` [承認待ち], `execute` [実行], `error` [エラー].',
  },
  A06: {
    source: 'audit-log §API',
    text: 'Class `ReasoningLog` with `record`, `parseThinking`, `getAuditTrail` and `exportMarkdown`.',
  },
  A07: {
    source: 'audit-log §parseThinking 1',
    text: 'Bracket markers win and map straight to phases: `[思考] a [計画] b [実行] c` is three steps.',
  },
  A08: {
    source: 'audit-log §parseThinking 2',
    text: 'Plan detection: lines starting `1.` `2.`, and bullets after a line with `plan`, `steps` or `手順`.',
  },
  A09: {
    source: 'audit-log §parseThinking 3',
    text: 'Error detection, case-insensitive, also for Japanese words: `error`, `failed`, `エラー`, `失敗`.',
  },
  A10: {
    source: 'audit-log §parseThinking 4',
    text: 'All else is `thinking`; blank input gives no steps.',
  },
  A11: {
    source: 'audit-log §Integration 1',
    text: 'After inference, before tools run, the raw thinking is parsed and each step recorded.',
  },
  A12: {
    source: 'audit-log §Integration 1',
    text: 'After each tool call one row, linked to it: phase `error` if the result has an error, else `execute`; content is the tool name, `->`, and the error or the first 500 characters of the result.',
  },
  A13: {
    source: 'audit-log §Integration 2',
    text: 'A deny or quarantine by policy is a row of phase `waiting_approval`, linked to the decision: `Policy <reason code>: <message>`.',
  },
  A14: {
    source: 'audit-log §Integration 3',
    text: 'An approval request is a row linked to it: `Awaiting human approval for <tool>`.',
  },
  A15: {
    source: 'audit-log §Goals 2',
    text: 'Links resolve to the tool call, policy decision or approval.',
  },
  A16: {
    source: 'audit-log §Goals 3, §Append-Only',
    text: 'INSERT only: no UPDATE or DELETE anywhere but prune.',
  },
  A17: {
    source: 'audit-log §Append-Only',
    text: 'Prune removes only steps older than a configurable threshold, by default 30 days.',
  },
  A18: {
    source: 'audit-log §getAuditTrail',
    text: 'The trail of a session joins its turns, in order of turn time and step number.',
  },
  A19: {
    source: 'audit-log §getAuditTrail',
    text: 'Also query by time range and by stored session id; filter by phase across turns.',
  },
  A20: {
    source: 'audit-log §exportMarkdown',
    text: 'Export format of a turn: `## Turn <id> (<ISO time>)`, then one labelled paragraph per step with its links, such as `[実行] check_credits -> $2.50 remaining (tool_call: 01JXYZ-TC1)`.',
  },
  A21: {
    source: 'audit-log §Goals 5',
    text: 'The whole chain of a session can be rebuilt.',
  },
  A22: {
    source: 'audit-log §Performance',
    text: "Writes are synchronous, batched in the turn's transaction; about 0.5 ms a step.",
  },
  A23: {
    source: 'audit-log §Migration',
    text: 'An idempotent migration raises the schema version by one, with no data change.',
  },
} satisfies Record<string, Requirement>
