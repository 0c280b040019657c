import { isObject } from './text.js'

const kinds = ['input', 'output', 'cached', 'reasoning'] as const

/** Usage that an agent reports at the end of a run; `undefined` = not reported. */
export interface RunUsage {
  /** Tokens. `cached` is part of the input, `reasoning` part of the output. */
  readonly tokens: Readonly<Record<(typeof kinds)[number], number | undefined>>
  /** Cost in US dollars. */
  readonly cost: number | undefined
  readonly model: string | undefined
}

const readCount = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined

const readCost = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined

/** Reads the usage of a run. `metadata`: of its conclusion. */
export function readRunUsage(metadata: unknown): RunUsage {
  const { tokens, cost, model } = isObject(metadata) ? metadata : {}
  const counts = isObject(tokens) ? tokens : {}
  return {
    tokens: Object.fromEntries(kinds.map((kind) => [kind, readCount(counts[kind])])) as RunUsage['tokens'],
    cost: readCost(cost),
    model: typeof model === 'string' ? model : undefined,
  }
}
