import { createTranscript, type Message } from '@meup/folds'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { type AnswersOption, type Turn, type TurnOptions, toTest } from '../agent/turns.js'
import type { BaseClient } from '../client/base-client.js'
import { Answering, NoAnswerError } from './answering.js'
import type { Dialogue } from './dialogue.js'
import { type AgentOptions, resolveOptions } from './options.js'
import type { Output } from './output.js'
import type { Recorder } from './recorder.js'
import { Steering } from './steering.js'
import { Toolbox } from './toolbox.js'

/** Begins a conversation with a model about a turn; `earlier` = what was said before. */
export type BeginDialogue = (turn: Turn, earlier: readonly Remembered[]) => Dialogue

/** What it takes to answer with a model. */
export interface ModelAgent {
  readonly begin: BeginDialogue
  /** Absent: no transcript is kept. */
  readonly recorder: Recorder | undefined
  /** Absent: an answer is any text. */
  readonly output?: Output | undefined
}

/** `SpaceClient`, which this file cannot import: it imports this one. */
type AgentClient = BaseClient & {
  answer(
    handler: (turn: Turn) => Promise<void>,
    options: TurnOptions & { concurrency?: number },
  ): Promise<void>
}

/**
 * Answers the turns of this participant with a model; turns wait until `opened` resolves. Resolves when the space is
 * closed, rejects when `opened` does. `listOwn`: the tools that this participant offers, as `tools/list` gives them. Further messages of an asker steer the running answer instead of
 * beginning another turn.
 */
export async function runModelAgent(
  space: AgentClient,
  opened: Promise<ModelAgent>,
  options: AgentOptions,
  listOwn: () => Promise<readonly object[]>,
): Promise<void> {
  const resolved = resolveOptions(options, space)
  const { answers, queue } = options
  const isAsked = toTest(answers)
  const memory = new Memory(space.id, resolved.memory)
  const toolbox = new Toolbox(space, options.tools, listOwn, (error) => resolved.onError(error, undefined))
  /** Also of turns that wait to begin. */
  const open = new Map<Turn, Steering>()
  const failed = new Promise<never>((_, reject) => {
    opened.catch(reject)
  })
  let recorder: Recorder | undefined
  let isOver = false
  const forget = (): void => memory.forget()
  const onEnvelope = (envelope: AnyEnvelope): void => {
    memory.onEnvelope(envelope)
    toolbox.onEnvelope(envelope)
    if (envelope.from === space.id) recorder?.onOwnEnvelope(envelope)
    if (envelope.kind === Kind.participantClear && envelope.to?.includes(space.id)) forget()
  }
  const answer = async (turn: Turn): Promise<void> => {
    const steering = open.get(turn) ?? new Steering(turn)
    try {
      const { begin, recorder, output } = await opened
      const dialogue = begin(turn, memory.before(turn.trigger))
      await new Answering(turn, { dialogue, steering, toolbox, recorder, output, options: resolved }).run()
    } finally {
      open.delete(turn)
    }
  }
  const isMine: AnswersOption = (message, client) =>
    !isOver && isAsked(message, client) && ![...open.values()].some((each) => each.redirect(message))
  const onOpen: TurnOptions['onOpen'] = (turn) => open.set(turn, new Steering(turn))
  const report = (error: unknown): void => resolved.onError(error, undefined)
  space.on('envelope', onEnvelope)
  space.on('lost', forget)
  space.on('requestError', report)
  const { concurrency } = resolved
  /** That a model has no answer is for its asker to know. */
  const onError: TurnOptions['onError'] = (error, turn) => {
    if (!(error instanceof NoAnswerError)) resolved.onError(error, turn)
  }
  const prepare = (agent: ModelAgent): Promise<void> => {
    recorder = agent.recorder
    return toolbox.prepare().catch(report)
  }
  opened.then(prepare, () => {}) // That it cannot begin is told by the promise.
  try {
    await Promise.race([
      space.answer(answer, { concurrency, answers: isMine, onOpen, onError, ...(queue && { queue }) }),
      failed,
    ])
  } finally {
    isOver = true
    recorder?.close()
    space.off('envelope', onEnvelope)
    space.off('lost', forget)
    space.off('requestError', report)
  }
}

/** A message of the main conversation. `from` = `undefined`: it was said by the agent itself. */
interface Remembered {
  readonly from: string | undefined
  readonly text: string
}

/** Characters of the conversation that are remembered. */
const maxChars = 1e6

/** What was said in the main conversation, as far as this participant was shown it. */
class Memory {
  readonly #self: string
  readonly #maxMessages: number
  #transcript = createTranscript(maxChars)

  /** `maxMessages`: how many messages `before` returns. */
  constructor(self: string, maxMessages: number) {
    this.#self = self
    this.#maxMessages = maxMessages
  }

  onEnvelope(envelope: AnyEnvelope): void {
    if (envelope.seq !== undefined) this.#transcript.apply(envelope)
  }

  /**
   * What was said before this message, the oldest first. What was not for everyone is recalled for those who know it, where
   * the answer is for them alone.
   */
  before({ id, from, to }: Pick<AnyEnvelope, 'id' | 'from' | 'to'>): Remembered[] {
    const all = this.#transcript.messages()
    const end = all.findIndex(({ source }) => source.id === id)
    const mayRecall = (source: Message['source']): boolean =>
      source.to === undefined || (to !== undefined && [source.from, ...source.to].includes(from))
    const known = all
      .slice(0, end < 0 ? all.length : end)
      .filter(({ source, isTakenBack }) => !isTakenBack && mayRecall(source))
    return known.slice(Math.max(0, known.length - this.#maxMessages)).map(({ source, text }) => ({
      from: source.from === this.#self ? undefined : source.from,
      text,
    }))
  }

  forget(): void {
    this.#transcript = createTranscript(maxChars)
  }
}
