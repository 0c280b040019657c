/** What to run: environment and working directory exactly as they are to be. */
export interface StartOrder {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** The value of the variable by which all that the command starts is found. */
  readonly run: string
}

/** How a command ended: with a code, or by a signal. */
export interface ChildExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** To the reaper, one JSON object per line. The end of the stream means: the parent is gone. */
export type Order = { readonly start: StartOrder } | { readonly stop: { readonly graceMs: number } }

/** From the reaper, one JSON object per line. */
export type Report =
  | { readonly started: { readonly pid: number } }
  | { readonly failed: { readonly code: string; readonly reason: string } }
  | { readonly exited: ChildExit }

/** The reaper's end of the lifeline; node marks it close-on-exec at its start, so the command never has it. */
export const LIFELINE_FD = 3

/** Both sides are of one making, and a start order carries a whole environment. */
export const LIFELINE_LIMIT = { maxBytes: 64 * 1024 * 1024, longer: 'fail' } as const
