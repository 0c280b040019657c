/** The command to start, with its exact environment and working directory. */
export interface StartOrder {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** A random id, set as an environment variable to find the processes of the command. */
  readonly run: string
}

/** How a command exited: with a code or by a signal. */
export interface ChildExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/**
 * Messages to the reaper, the process that runs the command, one JSON object per line. The end of the stream means that the
 * parent process has ended.
 */
export type Order = { readonly start: StartOrder } | { readonly stop: { readonly graceMs: number } }

/** Messages from the reaper, one JSON object per line. */
export type Report =
  | { readonly started: { readonly pid: number } }
  | { readonly failed: { readonly code: string; readonly reason: string } }
  | { readonly exited: ChildExit }

/**
 * The file descriptor in the reaper of the lifeline, the socket to its parent. Node marks it close-on-exec, so the command does
 * not inherit it.
 */
export const LIFELINE_FD = 3

/**
 * Limit of a message between the reaper and its parent. High, because both processes are trusted, and a start order contains a
 * whole environment.
 */
export const LIFELINE_LIMIT = { maxBytes: 64 * 1024 * 1024, longer: 'fail' } as const
