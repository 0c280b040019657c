/** How far a request is, as the one who works on it says. */
export interface Progress {
  /** Grows with every report, up to `total` where that is known. */
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** What a request has to say for its answerer to report progress; the token comes back with each report. */
export function withProgressToken(params: object, progressToken: string): object {
  const { _meta } = params as { _meta?: object }
  return { ...params, _meta: { ..._meta, progressToken } }
}

/** The progress that a notification reports under this token; `undefined` where it reports none. */
export function readProgress(
  params: Record<string, unknown> | undefined,
  token: string,
): Progress | undefined {
  const { progressToken, progress, total, message } = params ?? {}
  if (progressToken !== token || typeof progress !== 'number') return undefined
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  }
}
