/** What an envelope does to a turn: bits of `Mark.roles`. */
export const Role = {
  /** The turn begins with it. */
  begin: 1,
  /** It is part of what the agent does in the turn. */
  turn: 2,
  /** It opens a context in the turn. */
  open: 4,
  /** It closes contexts of the turn. */
  close: 8,
  /** A request or a proposal: the step of its answer is made here. */
  call: 16,
  /** A tool is chosen in the turn. */
  dispatch: 32,
  /** A request that fulfils a proposal of the turn. */
  fulfil: 64,
  /** It tells what calls of the turn came to. */
  settle: 128,
  /** The answer to a call, whose step is made here. */
  home: 256,
  /** It answers the trigger. */
  answer: 512,
  /** The asker takes the trigger back. */
  takeBack: 1024,
  /** A proposal of the turn has expired when it comes. */
  expire: 2048,
  /** With it the turn takes up a free path, which it has to itself as far as its agent goes. */
  free: 4096,
  /** With it no context is open in the turn any more. */
  last: 8192,
  /** It is said in a run of the turn, and may change nothing. */
  hear: 16384,
} as const

/** What may end a batch of calls: only such an envelope makes an event [MEUP-11.11]. */
export const endingRoles = Role.close | Role.settle | Role.takeBack | Role.expire

/** One envelope in one turn. There is a second one where its steps in the turn do not follow each other. */
export interface Mark {
  readonly beginning: Beginning
  readonly roles: number
  /** Steps that are made of it: the number of the first, how many, their phases as bits, and where their ids begin. */
  readonly step: number
  readonly steps: number
  readonly phases: number
  readonly index: number
}

/** A turn or job, as it began. */
export interface Beginning {
  /** Which one of the space it is, from 1 in the order in which they began. */
  readonly turn: number
  /** A ULID. */
  readonly id: string
  readonly agent: string
  /** From 1 in the thread; `null` for a job. */
  readonly number: number | null
  /** Id of the envelope that a job began with; `null` for a turn. */
  readonly jobId: string | null
  /** Kind of the trigger, or `job`. */
  readonly inputSource: string
  /** Seq of the trigger; `null` for a job. */
  readonly trigger: number | null
  /** Of the envelope that it began with. */
  readonly seq: number
  readonly startedAt: string
}

/** What one envelope did. */
export interface Assigned {
  readonly begun: readonly Beginning[]
  /** In the order of what they end, then of what they do. */
  readonly marks: readonly Mark[]
  /** Time of the log (RFC 3339), which never goes back; empty where there are no marks. */
  readonly at: string
}

/** A turn that envelopes may still belong to. */
export interface OpenTurn {
  readonly heading: Beginning
  /** Number of its steps so far, and of contexts that are open in it. */
  steps: number
  open: number
  /** Rises with each envelope that does something to it. */
  touched: number
}
