import type { Requirement } from './requirement.js'

/** Requirements of the wire format: envelopes, contexts, the three reasoning kinds, capabilities, rates. */
export const protocolRequirements = {
  M01: {
    source: 'meup-adr-t8k all examples',
    text: 'The envelope fields of the document are accepted and kept: `id`, `kind`, `from`, `to`, `context`, `correlationId`, `payload`. A partial send is never rejected for a field that the SDK or the gateway can fill.',
  },
  M02: {
    source: 'meup-adr-t8k §Option 5, §Recommendation',
    text: 'Exactly three normative reasoning kinds: `reasoning.start`, `reasoning.thought`, `reasoning.conclusion`.',
  },
  M03: {
    source: 'meup-adr-t8k §Option 5',
    text: 'All three kinds use the chat payload shape, `{"message": "..."}`.',
  },
  M04: {
    source: 'meup-adr-t8k §Option 5 (kinds; Fast signaling; msg-501)',
    text: 'The message of start and conclusion is optional, and may be empty; the payload itself may be absent.',
  },
  M05: {
    source: 'meup-adr-t8k Key Pattern 2',
    text: '`reasoning.start` is sent at top level: no `context`, with `correlationId` to the trigger.',
  },
  M06: {
    source: 'meup-adr-t8k Key Pattern 3-4',
    text: "The start message's `id` becomes the `context` of every later message of that reasoning, of any kind.",
  },
  M07: {
    source: 'meup-adr-t8k Key Pattern 5',
    text: '`reasoning.conclusion` is sent inside the context that the start opened, and ends it.',
  },
  M08: {
    source: 'meup-adr-t8k Key Pattern 6; Participant Behavior',
    text: 'The final answer is a `chat` with no `context`, correlated to the original message.',
  },
  M09: {
    source: 'meup-adr-t8k Example Flow (Single Agent)',
    text: 'The whole single-agent flow works end to end: chat, start, thought, request, thought, request, thought, conclusion, chat.',
  },
  M10: {
    source: 'meup-adr-t8k Example Flow (Multiple Agents)',
    text: 'Several agents reason at once, each in its own context, in any interleaving.',
  },
  M11: {
    source: 'meup-adr-t8k Benefits',
    text: "Starts are always visible at top level; each agent's reasoning can be shown or hidden independently.",
  },
  M12: {
    source: 'meup-adr-t8k Benefits (Clear attribution)',
    text: 'The context id alone tells which agent is reasoning.',
  },
  M13: {
    source: 'meup-adr-t8k Enhancement 1 Nested',
    text: 'A nested start carries the parent as `context`; its children use path notation (`msg-301/msg-302`); work then returns to the parent.',
  },
  M14: {
    source: 'meup-adr-t8k Enhancement 2 References',
    text: 'A start may list earlier messages or data it builds on, in `payload.references`.',
  },
  M15: {
    source: 'meup-adr-t8k Enhancement 3 Collaborative',
    text: 'Other agents may contribute in the same context, replying by `correlationId`.',
  },
  M16: {
    source: 'meup-adr-t8k Enhancement 4 Metadata',
    text: 'Metadata (`approach`, `estimated_duration`, `confidence`) is never required and always preserved.',
  },
  M17: {
    source: 'meup-adr-t8k Participant Behavior',
    text: 'Context ids must be unique within the space.',
  },
  M18: {
    source: 'meup-adr-t8k Participant Behavior; Option 6 Hierarchical',
    text: 'Hierarchical free-form paths, such as `reason-789/permissions/result`, are legal contexts too.',
  },
  M19: {
    source: 'meup-adr-t8k §Decision (Important); Participant Behavior',
    text: 'Participants must still process `mcp.request`, `mcp.proposal` and responses inside any context, however it is filtered for display.',
  },
  M20: {
    source: 'meup-adr-t8k Participant Behavior',
    text: 'Observers may filter by context and use its path structure, and should correlate final answers with the reasoning context: the `correlationId` of the start is that of the final chat.',
  },
  M21: {
    source: 'meup-adr-t8k Gateway Behavior',
    text: 'The gateway treats reasoning messages like any other kind: no special routing rules.',
  },
  M22: {
    source: 'meup-adr-t8k Gateway Behavior',
    text: 'Standard capability checks apply; broadcast unless targeted by `to`.',
  },
  M23: {
    source: 'meup-adr-t8k Capability Control',
    text: '`reasoning/*`: may emit any reasoning message.',
  },
  M24: {
    source: 'meup-adr-t8k Capability Control',
    text: '`reasoning/start`: may only start sequences.',
  },
  M25: {
    source: 'meup-adr-t8k Capability Control',
    text: '`reasoning/step`: may only add steps, not start or end; it means `reasoning.thought`.',
  },
  M26: {
    source: 'meup-adr-t8k Security Considerations',
    text: 'Flooding by reasoning messages is bounded by a rate limit separate from chat.',
  },
  M27: {
    source: 'meup-adr-t8k Security Considerations',
    text: 'Sensitive data in reasoning is caught before it reaches the space.',
  },
  M28: {
    source: 'meup-adr-t8k §Option 3',
    text: 'A context with regular kinds only (no reasoning kinds) is valid grouping.',
  },
  M29: {
    source: 'meup-adr-t8k §Option 4',
    text: 'Richer kinds (`reasoning.observation`, `.hypothesis`, `.question`) and payloads are tolerated as an extension, not required.',
  },
  M30: {
    source: 'meup-adr-t8k §Option 4 tail',
    text: 'A proposal may be based on a reasoning context.',
  },
  M31: {
    source: 'meup-adr-t8k Key pattern; Pros (Non-blocking)',
    text: 'A start can be signalled immediately, before any model output.',
  },
  M32: {
    source: 'meup-adr-t8k §Decision bullets; Consequences',
    text: 'Four observer modes: full monitoring, filtered display, selective inclusion in prompts, export for pattern learning, audit and replay.',
  },
  M33: {
    source: 'meup-adr-t8k Migration Path; Future',
    text: 'Optional and non-breaking: agents and clients unaware of reasoning keep working; unknown kinds and payload fields are preserved.',
  },
} satisfies Record<string, Requirement>
