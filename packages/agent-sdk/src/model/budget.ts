import { formatDuration, readRunUsage } from '@meup/folds'
import { Kind } from '@meup/protocol'
import type { HttpClient } from '../http/http-client.js'
import type { Spent } from './dialogue.js'
import { NoAnswerError } from './errors.js'
import type { AgentLimits, Clock } from './options.js'

/** The cost of one step. */
interface SpentStep {
  readonly model: string
  readonly tokens: Spent
  /** Milliseconds from the request to the end of the model's output. */
  readonly ms: number
}

/** Maximum steps whose tokens and duration the conclusion of a run lists individually. */
const maxListedSteps = 100

/** Counts the steps and tokens of a turn, and enforces their limits. */
export class TurnBudget {
  readonly #limits: Pick<Required<AgentLimits>, 'steps' | 'tokens'>
  readonly #day: DayBudget
  #steps = 0
  #spent: Spent = { input: 0, output: 0, reasoning: 0 }
  readonly #each: SpentStep[] = []

  constructor(limits: Pick<Required<AgentLimits>, 'steps' | 'tokens'>, day: DayBudget) {
    this.#limits = limits
    this.#day = day
  }

  /** Counts a step. Throws `NoAnswerError` if it would exceed the limit. */
  step(): void {
    const { steps } = this.#limits
    if (this.#steps === steps) throw new NoAnswerError('step_limit', { limit: steps })
    this.#steps++
  }

  add(step: SpentStep): void {
    if (this.#each.length < maxListedSteps) this.#each.push(step)
    const { input, output, reasoning } = step.tokens
    this.#day.add(input + output)
    const before = this.#spent
    this.#spent = {
      input: before.input + input,
      output: before.output + output,
      reasoning: before.reasoning + reasoning,
    }
  }

  /** Throws `NoAnswerError` if the tokens of the turn or of the day are used up. */
  checkTokens(): void {
    const { input, output } = this.#spent
    const { tokens } = this.#limits
    if (input + output >= tokens) throw new NoAnswerError('token_limit', { used: input + output })
    this.#day.check()
  }

  getUsage() {
    return { steps: this.#steps, tokens: this.#spent, stepUsage: this.#each }
  }
}

const dayMs = 86_400_000

interface DayBudgetParts {
  /** Maximum tokens in 24 hours; `Infinity` = no limit. */
  readonly tokensPerDay: number
  /** Id of the agent whose runs count. */
  readonly id: string
  readonly http: Pick<HttpClient, 'readLogPages'>
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Counts the tokens of an agent in the last 24 hours. Those from before its start are read from the log, where the conclusion
 * of each run states its tokens.
 */
export class DayBudget {
  readonly #parts: DayBudgetParts
  /** The tokens of each step, oldest first. */
  #spent: { readonly at: number; readonly tokens: number }[] = []
  #opened: Promise<void> | undefined

  constructor(parts: DayBudgetParts) {
    this.#parts = parts
  }

  /** Reads the log once, if there is a limit. Rejects with `NoAnswerError` if the tokens are used up. */
  async open(): Promise<void> {
    if (this.#parts.tokensPerDay === Number.POSITIVE_INFINITY) return
    this.#opened ??= this.#read()
    await this.#opened.catch((error: unknown) => {
      this.#opened = undefined
      throw error
    })
    this.check()
  }

  add(tokens: number): void {
    if (this.#parts.tokensPerDay < Number.POSITIVE_INFINITY)
      this.#spent.push({ at: this.#parts.clock.now(), tokens })
  }

  /** Throws `NoAnswerError` if the tokens of the last 24 hours are used up. */
  check(): void {
    const { tokensPerDay, clock } = this.#parts
    const now = clock.now()
    this.#spent = this.#spent.filter(({ at }) => at > now - dayMs)
    let left = this.#spent.reduce((sum, { tokens }) => sum + tokens, 0)
    if (left < tokensPerDay) return
    const used = left
    const free = this.#spent.find(({ tokens }) => {
      left -= tokens
      return left < tokensPerDay
    })
    const wait = formatDuration((free?.at ?? now) + dayMs - now)
    throw new NoAnswerError('day_limit', { used, limit: tokensPerDay, wait })
  }

  async #read(): Promise<void> {
    const { id, http, clock } = this.#parts
    const since = clock.now() - dayMs
    const query = { from: id, kind: Kind.reasoningConclusion, order: 'desc' } as const
    const spent: { at: number; tokens: number }[] = []
    for await (const { envelopes } of http.readLogPages(query)) {
      for (const { ts, payload } of envelopes) {
        const { metadata } = payload as { readonly metadata?: unknown }
        const { input = 0, output = 0 } = readRunUsage(metadata).tokens
        spent.unshift({ at: Date.parse(ts), tokens: input + output })
      }
      if ((spent[0]?.at ?? since) < since) break
    }
    this.#spent = [...spent, ...this.#spent]
  }
}
