/** The command to start, with its exact environment and working directory. */
export interface StartOrder {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Value of the variable that identifies the processes of the command. */
  readonly run: string
}

/** The exit of a command: a code or a signal. */
export interface ChildExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Messages to the reaper, one JSON object per line. The end of the stream means that the parent has ended. */
export type Order = { readonly start: StartOrder } | { readonly stop: { readonly graceMs: number } }

/** Messages from the reaper, one JSON object per line. */
export type Report =
  | { readonly started: { readonly pid: number } }
  | { readonly failed: { readonly code: string; readonly reason: string } }
  | { readonly exited: ChildExit }

/** The reaper's end of the lifeline; Node marks it close-on-exec, so the command does not inherit it. */
export const LIFELINE_FD = 3

/** Both sides are trusted, and a start order contains a whole environment. */
export const LIFELINE_LIMIT = { maxBytes: 64 * 1024 * 1024, longer: 'fail' } as const
