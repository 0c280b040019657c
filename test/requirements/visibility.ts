import type { Requirement } from './requirement.js'

/** Requirements of hiding and showing the thoughts of a running turn. */
export const visibilityRequirements = {
  O01: {
    source: 'visibility-toggle Part 1',
    text: 'Each active run has a state entry with a mutable flag, `reasoningVisible`.',
  },
  O02: {
    source: 'visibility-toggle Part 1, Edge 1',
    text: 'The flag is `true` when a run starts.',
  },
  O03: {
    source: 'visibility-toggle Part 2',
    text: 'Schema of the request: `sessionKey` and `runId` non-empty, `reasoningVisible` boolean, no additional properties.',
  },
  O04: {
    source: 'visibility-toggle Part 3',
    text: 'Bad params are answered with `INVALID_REQUEST` and the validation errors.',
  },
  O05: {
    source: 'visibility-toggle Part 3, Edge 3',
    text: 'Toggling a run that is unknown or over is a graceful error, `run not active`.',
  },
  O06: {
    source: 'visibility-toggle Part 3, Edge 4',
    text: "The session key must match the run's: `sessionKey mismatch`.",
  },
  O07: {
    source: 'visibility-toggle Part 3',
    text: 'Success: set the flag, broadcast `chat.reasoningToggled` to all clients, then reply `{ok: true, reasoningVisible}`.',
  },
  O08: {
    source: 'visibility-toggle Part 4',
    text: 'Reasoning is emitted as chat events with state `reasoning`.',
  },
  O09: {
    source: 'visibility-toggle Part 4',
    text: 'The flag is read at each emission, not captured at run start; hidden emission returns before a `seq` is taken.',
  },
  O10: {
    source: 'visibility-toggle Part 5',
    text: 'Chat event schema: states `delta`, `final`, `aborted`, `error`, `reasoning`; `seq` integer >= 0; no additional properties.',
  },
  O11: {
    source: 'visibility-toggle Edge 5, Test 1',
    text: 'When hidden, reasoning events are not emitted at all - not merely filtered by clients; other states are untouched.',
  },
  O12: {
    source: 'visibility-toggle Test 1',
    text: 'Reasoning events resume when shown again, in the same run.',
  },
  O13: {
    source: 'visibility-toggle Part 6',
    text: 'Client method `toggleReasoningVisibility({sessionKey, runId, reasoningVisible})`, resolving to `{ok, reasoningVisible}`.',
  },
  O14: {
    source: 'visibility-toggle Part 7',
    text: '`Ctrl+T` flips local `showThinking`; with an active run it also tells the server, without waiting.',
  },
  O15: {
    source: 'visibility-toggle Part 7',
    text: 'Server failure does not block the local toggle.',
  },
  O16: {
    source: 'visibility-toggle Part 7',
    text: 'Without an active run `Ctrl+T` is local only.',
  },
  O17: {
    source: 'visibility-toggle Part 8',
    text: 'Clients handle `chat.reasoningToggled`: ignore bad payloads, other runs, other sessions; sync and re-render only on change.',
  },
  O18: {
    source: 'visibility-toggle Part 9',
    text: 'The TUI handles state `reasoning`: nothing if hidden locally or text empty; else it updates the reasoning view of that run.',
  },
  O19: {
    source: 'visibility-toggle Test 2',
    text: 'Two clients of one session show the same state.',
  },
  O20: {
    source: 'visibility-toggle Test 3',
    text: 'Rapid toggling is safe; final client and server state agree.',
  },
  O21: {
    source: 'visibility-toggle Test 4, Edge 2',
    text: 'Run end cleans up; the toggle is not persisted.',
  },
  O22: {
    source: 'visibility-toggle Edge 6, Part 7',
    text: 'Toggling can show or hide past reasoning by reloading history.',
  },
  O23: {
    source: 'visibility-toggle Alternatives, Limitations',
    text: 'No abort or restart, no loss of the response in progress, not a session-level patch; existing `chat.send`, `abort`, `history`, `inject` keep working; the thinking level is per run.',
  },
} satisfies Record<string, Requirement>
