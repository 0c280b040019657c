import { cut, onOneLine } from '@meup/folds'
import { type AnyEnvelope, correlations, GATEWAY, getErrorMessage, omitUndefined } from '@meup/protocol'
import type { LiveText } from '../agent/deltas.js'
import type { HistoryMessage } from '../agent/history.js'
import { changedText, ParallelGroups } from '../agent/reasoning.js'
import type { Turn } from '../agent/turn.js'
import { Notice } from '../client/errors.js'
import { type DayBudget, TurnBudget } from './budget.js'
import { type CallOutcome, callTools } from './call-tools.js'
import { offerColleagues } from './colleagues.js'
import {
  type Dialogue,
  type ModelStep,
  type ReasoningVisibility,
  type StepListener,
  shownReasoning,
} from './dialogue.js'
import { NoAnswerError } from './errors.js'
import type { Memory } from './memory.js'
import type { ResolvedOptions } from './options.js'
import type { OutputSchema } from './output-schema.js'
import type { Recorder, TurnRecorder } from './recorder.js'
import type { Steering } from './steering.js'
import { summaryInstructions, writeSummary } from './summarize.js'
import { ModelThinking, openThinkingRun, type ThinkingRun } from './thinking.js'
import type { Offer, OfferedTool, Toolbox } from './toolbox.js'

/** Maximum characters of an answer, well below the limit of an envelope. */
const maxAnswerChars = 60_000

/** Objects that the steps of one answer share. */
interface Parts {
  readonly run: ThinkingRun
  readonly live: LiveText
  readonly record: TurnRecorder | undefined
}

interface Answerer {
  readonly dialogue: Dialogue
  /** Called when raw reasoning of a model was not shown to participants, to inform the operator once how to show it. */
  onUnseen(model: string): void
  readonly memory: Memory
  /** Starts a separate conversation with the model, such as for a summary. */
  note(system: string, text: string): Dialogue
  readonly steering: Steering
  readonly toolbox: Toolbox
  /** Absent: no transcript is recorded. */
  readonly recorder: Recorder | undefined
  /** The required form of answers; absent: any text is an answer. */
  readonly output: OutputSchema | undefined
  readonly options: ResolvedOptions
  /** The token budget that all turns of the agent share. */
  readonly day: DayBudget
}

/** An answer with its structured data. */
interface Said {
  readonly text: string
  readonly data?: unknown
}

/** Answers one turn with a model: opens a run, talks to the model, and sends the answer. */
export class Answering {
  readonly #steering: Steering
  readonly #turn: Turn
  readonly #parts: Answerer
  readonly #groups = new ParallelGroups()
  readonly #budget: TurnBudget
  /** How much reasoning was visible in each step so far. */
  readonly #shown = new Set<ReasoningVisibility | undefined>()

  constructor(turn: Turn, parts: Answerer) {
    this.#turn = turn
    this.#parts = parts
    this.#steering = parts.steering
    this.#budget = new TurnBudget(parts.options.limits, parts.day)
  }

  /** Resolves when the turn is answered. Rejects with the reason why there is no answer, which is sent to the asker. */
  async run(): Promise<void> {
    const { space, trigger } = this.#turn
    await this.#parts.day.open()
    const { thinkingLevel } = this.#turn
    const onError = (error: unknown): void => this.#parts.options.onError(error, this.#turn)
    const about = {
      ...nameModel(this.#parts.dialogue),
      ...omitUndefined({ thinkingLevel }),
    }
    await using run = await openThinkingRun(this.#turn, about, onError)
    const record = this.#parts.recorder?.begin(trigger.id, run.context)
    const onEnvelope = (envelope: AnyEnvelope): void => {
      this.#steering.onEnvelope(envelope, run.context)
      if (record !== undefined && isOf(run, envelope, space.id)) record.link(envelope)
    }
    space.on('envelope', onEnvelope)
    try {
      const said = await this.#answer(run, record)
      const transcript = record?.settle()
      const metadata = this.#describe(transcript)
      await run.conclude(undefined, { metadata }).catch(onError)
      if (said === undefined) return
      const { text, ...data } = said
      const answer = await this.#turn.reply(cut(text, maxAnswerChars), { format: 'markdown', ...data })
      record?.link(answer)
    } finally {
      record?.settle()
      space.off('envelope', onEnvelope)
    }
  }

  /** The metadata of a run's conclusion. `transcript`: the hash of a commit that covers the whole turn. */
  #describe(transcript: string | undefined): object {
    const reasoning = shownReasoning.find((each) => this.#shown.has(each))
    return {
      model: this.#parts.dialogue.model,
      ...omitUndefined({ reasoning }),
      ...this.#budget.getUsage(),
      ...omitUndefined({ transcript }),
    }
  }

  /**
   * Returns the answer; `undefined` = the question was handed to another agent. Rejects with the reason why there is no answer,
   * such as the time limit.
   */
  async #answer(run: ThinkingRun, record: TurnRecorder | undefined): Promise<Said | undefined> {
    const { clock, limits } = this.#parts.options
    const time = new AbortController()
    const late = new NoAnswerError('time_limit', { limit: limits.turnMs })
    const cancel = clock.after(limits.turnMs, () => time.abort(late))
    const stop = AbortSignal.any([run.signal, time.signal])
    const live = this.#turn.write()
    try {
      return await this.#converse({ run, live, record }, stop)
    } catch (error) {
      const why = time.signal.aborted ? late : error
      record?.failed(why)
      throw why
    } finally {
      live.close()
      this.#steering.close()
      cancel()
    }
  }

  /** Makes steps until the model answers without calling a tool; `undefined` = the question was handed to another agent. */
  async #converse({ run, live, record }: Parts, signal: AbortSignal): Promise<Said | undefined> {
    const { dialogue, toolbox, output, options } = this.#parts
    const { space } = this.#turn
    const seen = { id: space.id, client: space, run, detail: options.reasoningDetail }
    const thinking = new ModelThinking(seen, options.clock, (error) => options.onError(error, this.#turn))
    const patience = toolbox.createPatience()
    dialogue.recall(await this.#recall(run, signal))
    let wasMisused = false
    let wasBroken = false
    let wasUnfit = false
    for (;;) {
      signal.throwIfAborted()
      this.#budget.step()
      const { messages, signal: interrupt } = this.#steering.listen()
      for (const { from, text } of messages) dialogue.addUserMessage(from, text)
      const { tools, ...offered } = await toolbox.offered(patience)
      const colleagues = offerColleagues(this.#turn, options.colleagues)
      const offer = { ...offered, tools: new Map([...tools, ...colleagues]) }
      if (offer.changed.length > 0) await this.#announce(run, changedText(offer.changed))
      const begin = options.clock.now()
      const listener: StepListener = {
        send: (prompt) => record?.sent(prompt),
        fail: (step) => record?.answered(step, options.clock.now() - begin),
        think: (delta) => thinking.onDelta(delta),
        say: (text) => live.push(text),
        restart: () => live.restart(),
        notice: (text) => void this.#announce(run, text),
      }
      const step = await this.#think(thinking, listener, offer, AbortSignal.any([signal, interrupt]))
      record?.answered(step, options.clock.now() - begin)
      signal.throwIfAborted()
      this.#budget.add({ model: dialogue.model, tokens: step.spent, ms: options.clock.now() - begin })
      this.#shown.add(step.shown)
      if (step.shown === 'full' && options.reasoningDetail === 'thoughts')
        this.#parts.onUnseen(dialogue.model)
      if (step.end === 'broken' && dialogue.mayRetry && !wasBroken) {
        wasBroken = true
        live.restart()
        continue
      }
      if (step.end !== 'stopped' && step.calls.length === 0 && !this.#steering.isWaiting) {
        const text = getAnswer(step, dialogue)
        const said = (await output?.read(step.text)) ?? {}
        if (!('problem' in said)) {
          if (!this.#steering.isWaiting) {
            this.#steering.close()
            return { text, ...said }
          }
        } else {
          if (wasUnfit) throw new NoAnswerError('invalid_answer', { problem: String(said.problem) })
          wasUnfit = true
          dialogue.addUserMessage(
            GATEWAY,
            `Your answer does not fit the JSON Schema: ${said.problem}. ${askAgain}`,
          )
        }
      }
      live.restart()
      if (step.end === 'stopped' || step.calls.length === 0) continue
      this.#budget.checkTokens()
      const { results, misuses } = await this.#act(run, step, offer.tools, thinking.summary, signal)
      dialogue.addToolResults(results)
      record?.results(results)
      if (this.#turn.isAnswered) return undefined
      if (misuses.length > 0 && wasMisused)
        throw new NoAnswerError('invalid_calls', { problems: misuses.join('; ') })
      wasMisused = misuses.length > 0
    }
  }

  /** Returns earlier messages for the model. The tokens for summarizing them count toward this turn. */
  #recall(run: ThinkingRun, signal: AbortSignal): Promise<readonly HistoryMessage[]> {
    const { memory, note, options } = this.#parts
    const announce = (text: string): void => void this.#announce(run, text)
    return memory.recall(this.#turn.trigger, {
      signal,
      summarize: async (said) => {
        const begin = options.clock.now()
        const dialogue = note(summaryInstructions(this.#turn.space.id), said)
        const summary = await writeSummary(dialogue, { signal, notice: announce })
        this.#budget.add({ model: dialogue.model, tokens: summary.spent, ms: options.clock.now() - begin })
        return summary
      },
      onFailure: (error) =>
        announce(`The oldest messages are left out, as no summary could be made: ${getErrorMessage(error)}`),
    })
  }

  /** Publishes a notice in the run, and reports it to the operator. Never rejects. */
  async #announce(run: ThinkingRun, text: string): Promise<void> {
    const onError = (error: unknown): void => this.#parts.options.onError(error, this.#turn)
    onError(new Notice(text))
    await run.thought(text).catch(onError)
  }

  async #think(
    thinking: ModelThinking,
    listener: StepListener,
    offer: Offer,
    signal: AbortSignal,
  ): Promise<ModelStep> {
    thinking.begin()
    try {
      const step = await this.#parts.dialogue.step(offer, listener, signal)
      if (step.tagged !== '') thinking.onDelta({ text: step.tagged, isSummary: false })
      return step
    } finally {
      await thinking.end()
    }
  }

  /** Makes the calls of a step. Its text is sent before them as a thought, the narrative [MEUP-11.5]. */
  async #act(
    run: ThinkingRun,
    { text, calls }: ModelStep,
    tools: ReadonlyMap<string, OfferedTool>,
    summary: string,
    signal: AbortSignal,
  ): Promise<CallOutcome> {
    const { dialogue, options: resolved } = this.#parts
    const { limits, onError } = resolved
    const commentary = text.trim()
    if (commentary !== '') {
      await run.thought(commentary).catch((error) => onError(error, this.#turn))
    }
    const { toolMs: timeoutMs, approvalMs } = limits
    const options = { ...run.place, signal, timeoutMs, approvalMs }
    const client = this.#turn.space
    const show = { maxChars: limits.resultChars, takes: (type: string) => dialogue.takes(type) }
    return callTools(calls, { client, tools, groups: this.#groups, commentary, summary, show, options })
  }
}

/**
 * Whether the envelope was sent by this participant in its run or, if the run is not published, in correlation with its
 * trigger.
 */
const isOf = ({ context, place }: ThinkingRun, envelope: AnyEnvelope, self: string): boolean => {
  if (envelope.from !== self) return false
  if (context !== undefined) return envelope.context === context
  return place.correlationId !== undefined && correlations(envelope).includes(String(place.correlationId))
}

const askAgain = 'Answer again with one JSON value that fits it, and nothing else.'
const isCut = '\n\n(The answer ends here: the model reached its limit of tokens.)'
const isUnsure = (reason: string) => `\n\n(The answer may not be whole: the server ended it with ${reason}.)`
/** Maximum characters of an incomplete answer and of a finish reason, as quoted in an error. */
const [maxHalfChars, maxReasonChars] = [300, 40]

/** Names the model for everyone, so it omits the address of a server, which is only for the operator. */
function nameModel({ model, provider: served }: Pick<Dialogue, 'model' | 'provider'>) {
  const provider = served.includes('://') ? 'openai-compatible' : served
  return { model, provider, modelFull: `${provider}/${model}` }
}

/** Returns the text of the last step. Throws `NoAnswerError` if it is not an answer. */
function getAnswer(step: ModelStep, { model, provider }: Pick<Dialogue, 'model' | 'provider'>): string {
  const { end, reason = '' } = step
  const answer = step.text.trim()
  const title = `${model} ${provider.includes('://') ? 'at' : 'of'} ${provider}`
  const named = `"${cut(onOneLine(reason), maxReasonChars)}"`
  const ended = { model: title, ending: reason === '' ? 'without a finish reason' : `with ${named}` }
  const beginning = cut(answer, maxHalfChars)
  if (end === 'broken' && answer === '') throw new NoAnswerError('broken_off', ended)
  if (end === 'broken') throw new NoAnswerError('broken_off_after', { ...ended, beginning })
  if (end === 'filtered') throw new NoAnswerError('withheld', ended)
  if (onOneLine(answer) === '') throw explainSilence(step, provider)
  if (end === 'unsure') return `${answer}${isUnsure(named)}`
  return end === 'length' ? `${answer}${isCut}` : answer
}

function explainSilence({ end, tagged, thoughts }: ModelStep, provider: string): NoAnswerError {
  if (end === 'length') return new NoAnswerError('text_cut_off', {})
  if (tagged !== '') return new NoAnswerError('only_thought', {})
  const hasThought = thoughts.some(({ text }) => text.trim() !== '')
  return hasThought ? new NoAnswerError('all_parsed', { provider }) : new NoAnswerError('no_text', {})
}
