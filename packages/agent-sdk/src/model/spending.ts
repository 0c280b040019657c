import type { Spent } from './dialogue.js'
import { GivenUp } from './given-up.js'
import type { AgentLimits } from './options.js'

/** What a turn has used up of what it may. */
export class Spending {
  readonly #limits: Pick<Required<AgentLimits>, 'steps' | 'tokens'>
  #steps = 0
  #spent: Spent = { input: 0, output: 0, reasoning: 0 }

  constructor(limits: Pick<Required<AgentLimits>, 'steps' | 'tokens'>) {
    this.#limits = limits
  }

  /** Throws `GivenUp` where one more answer of the model would be too many. */
  step(): void {
    const { steps } = this.#limits
    if (this.#steps === steps) throw new GivenUp(`there was no answer after ${steps} steps`)
    this.#steps++
  }

  add({ input, output, reasoning }: Spent): void {
    const before = this.#spent
    this.#spent = {
      input: before.input + input,
      output: before.output + output,
      reasoning: before.reasoning + reasoning,
    }
  }

  /** Throws `GivenUp` where the tokens are used up. */
  mustHaveLeft(): void {
    const { input, output } = this.#spent
    const { tokens } = this.#limits
    if (input + output >= tokens) throw new GivenUp(`there was no answer after ${input + output} tokens`)
  }

  told(): { readonly steps: number; readonly tokens: Spent } {
    return { steps: this.#steps, tokens: this.#spent }
  }
}
