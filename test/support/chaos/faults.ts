/** A fault of a chaos run, with its effects for everyone involved. The table in docs/troubleshooting.md is generated from this. */
export interface Fault {
  /** The part of the system with the fault. */
  readonly of: Target
  /** Name of the fault, in reports of the test and as a key of `inject`. */
  readonly name: string
  /** The fault as a fact, for the table in docs: "its process is killed". */
  readonly happens: string
  /** The output of `meup up` about the fault, for the table in docs. */
  readonly operator: string
  /** The error or answer for the participant that has asked or called. */
  readonly asker: string
  /** The state of the affected participant, as others see it. */
  readonly space: string
  /** Whether the fault ends a program, so that its participant may be away for a while. */
  readonly ends?: true
}

type Target =
  | 'agent'
  | 'model'
  | 'tool server'
  | 'remote tool server'
  | 'coding agent'
  | 'page'
  | 'terminal'
  | 'AG-UI client'
  | 'gateway'

const nothing = 'nothing'
const restarts = 'one line with the cause and the next try'
const unread = 'once: what was skipped, and why; then a count'
const away = 'an error at once, `participant_away`; while it restarts, the answer'
const presence = 'it leaves, `restarting`, and joins again'

export const faults = [
  {
    of: 'agent',
    name: 'kill',
    happens: 'its process is killed, or crashes',
    operator: restarts,
    asker: away,
    space: presence,
    ends: true,
  },
  {
    of: 'agent',
    name: 'throw',
    happens: 'its handler throws',
    operator: "the agent's own output",
    asker: '"I could not answer: …" with the reason',
    space: 'its run is cancelled with the reason',
  },
  {
    of: 'agent',
    name: 'throw-in-listener',
    happens: 'a listener of its throws',
    operator: "the agent's own output",
    asker: 'the answer',
    space: nothing,
  },
  {
    of: 'agent',
    name: 'crash-later',
    happens: 'it throws outside a handler',
    operator: restarts,
    asker: away,
    space: presence,
    ends: true,
  },
  {
    of: 'agent',
    name: 'stop',
    happens: 'its process is stopped, and continues later',
    operator: nothing,
    asker: 'the answer, later',
    space: 'it is away when two heartbeats were missed',
  },
  {
    of: 'model',
    name: 'cut',
    happens: 'the stream of its model breaks off',
    operator: "the agent's own output",
    asker: '"I could not answer: …" with the reason',
    space: 'its run is cancelled with the reason',
  },
  {
    of: 'model',
    name: 'garbage',
    happens: 'its model sends what makes no sense',
    operator: "the agent's own output",
    asker: '"I could not answer: …" with the reason',
    space: 'its run is cancelled with the reason',
  },
  {
    of: 'tool server',
    name: 'unreadable',
    happens:
      'it writes other things than messages: a byte order mark, text, UTF-16, deep nesting, `null`, answers without a question',
    operator: unread,
    asker: 'the result',
    space: nothing,
  },
  {
    of: 'tool server',
    name: 'large-result',
    happens: 'a result is too large',
    operator: nothing,
    asker: 'an error with the size and the limit; other calls go on',
    space: nothing,
  },
  {
    of: 'tool server',
    name: 'endless-line',
    happens: 'it writes without a newline',
    operator: unread,
    asker: 'the result of the next call',
    space: nothing,
  },
  {
    of: 'tool server',
    name: 'flood',
    happens: 'it writes as fast as it can',
    operator: nothing,
    asker: 'the result',
    space: nothing,
  },
  {
    of: 'tool server',
    name: 'hang',
    happens: 'it never answers a call',
    operator: nothing,
    asker: 'an error after `--timeout`',
    space: nothing,
  },
  {
    of: 'tool server',
    name: 'close-stdout',
    happens: 'it closes its stdout and lives',
    operator: restarts,
    asker: 'an error at once: it has ended',
    space: presence,
    ends: true,
  },
  {
    of: 'tool server',
    name: 'exit',
    happens: 'it ends',
    operator: restarts,
    asker: 'an error at once: it has ended',
    space: presence,
    ends: true,
  },
  {
    of: 'remote tool server',
    name: 'forget',
    happens: 'it forgets the session: 404, 410, 400, or an error',
    operator: nothing,
    asker: 'the result: a new session is opened',
    space: nothing,
  },
  {
    of: 'remote tool server',
    name: 'break',
    happens: 'it cuts connections, or answers 503 or garbage',
    operator: `${restarts}; of garbage nothing`,
    asker: 'an error with the reason',
    space: `${presence}; of garbage nothing`,
    ends: true,
  },
  {
    of: 'coding agent',
    name: 'unreadable',
    happens: 'it sends updates that are not quite of the schema, or text',
    operator: unread,
    asker: 'the answer',
    space: nothing,
  },
  {
    of: 'coding agent',
    name: 'flood',
    happens: 'it writes as fast as it can',
    operator: nothing,
    asker: 'the answer, cut at what an answer may have',
    space: nothing,
  },
  {
    of: 'coding agent',
    name: 'exit',
    happens: 'it ends while it answers',
    operator: 'one line with the cause; it is started again for the next question',
    asker: '"I could not answer: the agent ended: …"',
    space: 'its run is cancelled with the reason',
  },
  {
    of: 'page',
    name: 'silence',
    happens: 'its line dies without a word',
    operator: nothing,
    asker: 'reconnecting, with *Try now*, then catching up',
    space: 'a person is away when two heartbeats were missed',
  },
  {
    of: 'terminal',
    name: 'stop',
    happens: 'it is stopped, and continues later',
    operator: nothing,
    asker: 'what was said in the meantime',
    space: 'a person is away when two heartbeats were missed',
  },
  {
    of: 'AG-UI client',
    name: 'abort',
    happens: 'it hangs up in the middle of a run, or posts what makes no sense',
    operator: nothing,
    asker: 'a problem with a code for the second',
    space: 'its question is taken back if it asked for that',
  },
  {
    of: 'gateway',
    name: 'stop',
    happens: 'its process is stopped, and continues later',
    operator: nothing,
    asker: 'the answer, later',
    space: nothing,
  },
  {
    of: 'gateway',
    name: 'locked-log',
    happens: 'another program locks its log',
    operator: 'the program that has to let go, and when it continues',
    asker: 'an acknowledgement, later; `unavailable` after some seconds',
    space: nothing,
  },
] as const satisfies readonly Fault[]
