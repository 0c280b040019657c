import { isObject } from '../text.js'

/** Tokens of a run, as its agent reports them; absent = it does not. */
export interface ReportedTokens {
  readonly input?: number | undefined
  readonly output?: number | undefined
}

/** The tokens in the payload of a conclusion. */
export function readReportedTokens(payload: object): ReportedTokens {
  const { metadata } = payload as { readonly metadata?: unknown }
  const { tokens } = isObject(metadata) ? metadata : {}
  const { input, output } = isObject(tokens) ? tokens : {}
  return { input: readCount(input), output: readCount(output) }
}

const readCount = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined
