import { cut } from '@meup/folds'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { Batches } from '../agent/reasoning.js'
import { patiently } from '../agent/respond.js'
import type { Turn } from '../agent/turns.js'
import { afterPause } from '../client/retry.js'
import type { Dialogue, ModelStep, Spent } from './dialogue.js'
import { type Dispatched, dispatch } from './dispatch.js'
import type { AgentLimits, Settled } from './options.js'
import type { Steering } from './steering.js'
import { openRun, type Run, Thinking } from './thinking.js'
import type { OfferedTool, Toolbox } from './toolbox.js'

/** Characters of an answer: an envelope holds not much more. */
const maxAnswerChars = 60_000
/** Characters of why there is none. */
const maxReasonChars = 500

interface Answerer {
  readonly dialogue: Dialogue
  readonly steering: Steering
  readonly toolbox: Toolbox
  readonly options: Settled
}

/** Answers one turn with a model, from the start of the run to the chat. */
export class Answering {
  readonly #steering: Steering
  readonly #turn: Turn
  readonly #parts: Answerer
  readonly #batches = new Batches()
  readonly #spending: Spending

  constructor(turn: Turn, parts: Answerer) {
    this.#turn = turn
    this.#parts = parts
    this.#steering = parts.steering
    this.#spending = new Spending(parts.options.limits)
  }

  /** Resolves when the turn has its answer, or who asked was told that there is none. */
  async run(): Promise<void> {
    const { space } = this.#turn
    const { model } = this.#parts.dialogue
    const { clock, limits } = this.#parts.options
    const trouble = (error: unknown): void => this.#parts.options.onError(error, this.#turn)
    await using run = await openRun(this.#turn, { model }, trouble)
    const take = (envelope: AnyEnvelope): void => this.#steering.heed(envelope, run.context)
    space.on('envelope', take)
    const time = new AbortController()
    const late = new GivenUp(`there was no answer within ${limits.turnMs} ms`)
    const cancel = clock.after(limits.turnMs, () => time.abort(late))
    const stop = AbortSignal.any([run.signal, time.signal])
    let text: string
    try {
      text = await this.#converse(run, stop)
    } catch (error) {
      return await this.#fail(run, stop.aborted ? stop.reason : error)
    } finally {
      this.#steering.close()
      cancel()
      space.off('envelope', take)
    }
    const metadata = { model, ...this.#spending.told() }
    await patiently(() => run.conclude(undefined, { metadata })).catch(trouble)
    await this.#reply(text)
  }

  /** One answer of the model after the other, until one is for who asked. */
  async #converse(run: Run, signal: AbortSignal): Promise<string> {
    const { dialogue, toolbox, options } = this.#parts
    const { space } = this.#turn
    const seen = { id: space.id, seat: space, run, detail: options.reasoningDetail }
    const thinking = new Thinking(seen, options.clock, (error) => options.onError(error, this.#turn))
    let wasMisused = false
    for (;;) {
      signal.throwIfAborted()
      this.#spending.step()
      const { heard, signal: interrupt } = this.#steering.listen()
      for (const { from, payload } of heard) dialogue.ask(from, payload.message)
      const tools = await toolbox.offered()
      const step = await this.#think(thinking, tools, AbortSignal.any([signal, interrupt]))
      signal.throwIfAborted()
      this.#spending.add(step.spent)
      if (step.end === 'stopped') continue
      if (step.calls.length === 0) {
        if (this.#steering.isWaiting) continue
        this.#steering.close()
        return answerOf(step)
      }
      this.#spending.mustHaveLeft()
      const { results, misuses } = await this.#act(run, step, tools, thinking.summary, signal)
      dialogue.tell(results)
      if (misuses.length > 0 && wasMisused) {
        throw new GivenUp(`the model keeps calling tools in ways that make no sense: ${misuses.join('; ')}`)
      }
      wasMisused = misuses.length > 0
    }
  }

  async #think(
    thinking: Thinking,
    tools: ReadonlyMap<string, OfferedTool>,
    signal: AbortSignal,
  ): Promise<ModelStep> {
    thinking.begin()
    try {
      const step = await this.#parts.dialogue.step(tools, (delta) => thinking.hear(delta), signal)
      if (step.tagged !== '') thinking.hear({ text: step.tagged, isSummary: false })
      return step
    } finally {
      await thinking.end()
    }
  }

  /** What was said along with the calls is a thought of its own, right before them: the narrative [MEUP-11.5]. */
  async #act(
    run: Run,
    { text, calls }: ModelStep,
    tools: ReadonlyMap<string, OfferedTool>,
    summary: string,
    signal: AbortSignal,
  ): Promise<Dispatched> {
    const { limits, onError } = this.#parts.options
    const commentary = text.trim()
    if (commentary !== '') {
      await patiently(() => run.thought(commentary)).catch((error) => onError(error, this.#turn))
    }
    const { toolMs: timeoutMs, approvalMs } = limits
    const options = { ...run.place, signal, timeoutMs, approvalMs }
    const seat = this.#turn.space
    return dispatch(calls, { seat, tools, batches: this.#batches, commentary, summary, options })
  }

  /** Ends the run, and tells who asked; whoever has stopped it knows already. */
  async #fail(run: Run, error: unknown): Promise<void> {
    const { space, signal, from } = this.#turn
    if (space.ended) return
    const reason = cut(error instanceof Error ? error.message : String(error), maxReasonChars)
    const { onError } = this.#parts.options
    const { context } = run
    const mayCancel =
      context !== undefined && space.can({ kind: Kind.reasoningCancel, context, payload: { reason } })
    await patiently(() =>
      mayCancel ? run.cancel(reason) : run.conclude(reason, { metadata: { cancelled: true } }),
    ).catch((trouble) => onError(trouble, this.#turn))
    if (!signal.aborted && !(error instanceof GivenUp)) onError(error, this.#turn)
    if (this.#steering.stopper === from) return
    await this.#reply(signal.aborted ? `I was stopped: ${reason}` : `I could not answer: ${reason}`)
  }

  #reply(text: string): Promise<AnyEnvelope> {
    const { space, trigger, from } = this.#turn
    const [first = trigger.id, ...more] = this.#steering.asked
    const chat = {
      ...(trigger.to !== undefined && { to: [from] }),
      correlationId: more.length === 0 ? first : [first, ...more],
      format: 'markdown',
    } as const
    return patiently(() => afterPause(space, () => space.chat(cut(text, maxAnswerChars), chat)))
  }
}

/** What a turn has used up of what it may. */
class Spending {
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

const isCut = '\n\n(The answer ends here: the model reached its limit of tokens.)'

/** The text of a last step. Throws `GivenUp` where there is none to give. */
function answerOf({ text, end, tagged }: ModelStep): string {
  const answer = text.trim()
  if (end === 'broken') throw new GivenUp(`the model's answer broke off${answer && `: ${cut(answer, 300)}`}`)
  if (end === 'filtered') throw new GivenUp(`the model's provider withheld the answer`)
  if (answer === '') {
    const why = end === 'length' ? ' before its limit of tokens' : tagged === '' ? '' : ', it only thought'
    throw new GivenUp(`the model gave no answer${why}`)
  }
  return end === 'length' ? `${answer}${isCut}` : answer
}

/** There will be no answer, and why: for everyone to read. */
class GivenUp extends Error {
  override readonly name = 'GivenUp'
}
