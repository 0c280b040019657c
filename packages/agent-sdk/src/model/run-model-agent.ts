import type { AnyEnvelope, EnvelopeOf, Kind } from '@meup/protocol'
import type { ControlHooks } from '../agent/control.js'
import type { ConversationLog } from '../agent/conversation-log.js'
import type { Turn } from '../agent/turn.js'
import { type AnswersOption, type ClientTurn, type OpenTurnOptions, toTest } from '../agent/turns.js'
import type { BaseClient } from '../client/base-client.js'
import { Notice } from '../client/errors.js'
import type { HttpClient } from '../http/http-client.js'
import { Answering } from './answering.js'
import { DayBudget } from './budget.js'
import type { Dialogue } from './dialogue.js'
import { isLoopError, NoAnswerError } from './errors.js'
import { Memory } from './memory.js'
import { type AgentOptions, resolveOptions } from './options.js'
import type { OutputSchema } from './output-schema.js'
import type { Recorder } from './recorder.js'
import { Steering } from './steering.js'
import { summaryInstructions, writeSummary } from './summarize.js'
import { Toolbox } from './toolbox.js'

type Chat = EnvelopeOf<typeof Kind.chat>

/** The model and the stores that a model agent uses. */
export interface ModelAgent {
  /** Starts a conversation with the model about a turn. */
  begin(turn: Turn): Dialogue
  /** Starts a conversation with the model about a text, such as for a summary. */
  note(system: string, text: string): Dialogue
  /** Absent: no transcript is recorded. */
  readonly recorder: Recorder | undefined
  /** The required form of answers; absent: any text is an answer. */
  readonly output?: OutputSchema | undefined
}

/** The internals of a client that a model agent needs. */
interface ClientParts {
  answer(
    handler: (turn: ClientTurn) => Promise<void>,
    options: OpenTurnOptions & { readonly concurrency: number },
  ): Promise<void>
  readonly log: ConversationLog
  readonly http: Pick<HttpClient, 'readLogPages'>
  /** Lists the tools of this participant as in `tools/list`. */
  listOwn(): Promise<readonly object[]>
  /** Sets handlers for control requests, such as `clear`, that are used if the program defines none. */
  setDefaultHooks(hooks: ControlHooks): void
}

/**
 * Answers the turns of this participant with a model. Turns wait until `opened` resolves. Resolves when the client is closed;
 * rejects if `opened` does. Further messages of an asker are passed to the running turn instead of starting a new one.
 */
export async function runModelAgent(
  space: BaseClient,
  opened: Promise<ModelAgent>,
  options: AgentOptions,
  { answer: answerWith, log, http, listOwn, setDefaultHooks }: ClientParts,
): Promise<void> {
  const resolved = resolveOptions(options, space)
  const { answers, queue } = options
  const isAsked = toTest(answers)
  const memory = new Memory({ log, bounds: resolved.memory, compact: resolved.compact, space })
  const day = new DayBudget({
    ...{ tokensPerDay: resolved.limits.tokensPerDay, clock: resolved.clock },
    ...{ id: space.id, http },
  })
  const toolbox = new Toolbox(space, options.tools, listOwn, (error) => resolved.onError(error, undefined))
  /** Turns that are running or wait in the queue. */
  const open = new Map<ClientTurn, Steering>()
  /** Rejects if the model cannot be loaded, to end the agent; otherwise never settles. */
  const failed = new Promise<never>((_, reject) => {
    opened.catch(reject)
  })
  let recorder: Recorder | undefined
  let isOver = false
  let wasUnseen = false
  const ready = opened.then(async (agent) => {
    recorder = agent.recorder
    await memory.open(recorder)
    return agent
  })
  const forget = (): void => memory.forget()
  const onEnvelope = (envelope: AnyEnvelope): void => {
    toolbox.onEnvelope(envelope)
    if (envelope.from === space.id) recorder?.onOwnEnvelope(envelope)
  }
  const answer = async (turn: ClientTurn): Promise<void> => {
    const steering = open.get(turn) ?? new Steering(turn)
    open.set(turn, steering)
    try {
      const { begin, note, recorder, output } = await ready
      const dialogue = begin(turn)
      await new Answering(turn, {
        dialogue,
        onUnseen,
        memory,
        note,
        steering,
        toolbox,
        recorder,
        output,
        options: resolved,
        day,
      }).run()
    } finally {
      open.delete(turn)
    }
  }
  /**
   * Passes a message to the open turn of its sender, and interrupts the model. Returns false if there is none. A message that
   * correlates with an envelope, such as a thought, is a separate question.
   */
  const passToOpenTurn = (message: Chat): boolean =>
    message.correlationId === undefined && [...open.values()].some((each) => each.redirect(message))
  /** Whether a message starts a turn. Has side effects, so it must be called only once per message. */
  const beginsTurn: AnswersOption = (message, client) =>
    !isOver && isAsked(message, client) && !passToOpenTurn(message)
  /** Adds a turn to `open` before it starts, but not that of a missed question, because another program may still answer it. */
  const onOpen: OpenTurnOptions['onOpen'] = (turn) => {
    if (!turn.isMissed) open.set(turn, new Steering(turn))
  }
  const report = (error: unknown): void => resolved.onError(error, undefined)
  const onUnseen = (model: string): void => {
    if (wasUnseen) return
    wasUnseen = true
    report(
      new Notice(`what ${model} thinks is raw, and hidden from everyone; reasoningIsSummary: true shows it`),
    )
  }
  space.on('envelope', onEnvelope)
  space.on('lost', forget)
  space.on('requestError', report)
  const { concurrency, answerMissed } = resolved
  /** Reports errors, except the reason of a missing answer, which is sent to the asker. */
  const onError: OpenTurnOptions['onError'] = (error, turn) => {
    if (!(error instanceof NoAnswerError) || isLoopError(error)) resolved.onError(error, turn)
  }
  // A failed start is ignored here, because `failed` reports it.
  ready.then(
    () => toolbox.prepare().catch(report),
    () => {},
  )
  setDefaultHooks({
    compact: async () => {
      const { note } = await ready
      const signal = AbortSignal.timeout(resolved.limits.turnMs)
      await memory.compact((said) => writeSummary(note(summaryInstructions(space.id), said), { signal }))
    },
  })
  try {
    await Promise.race([
      answerWith(answer, {
        concurrency,
        answers: beginsTurn,
        answerMissed,
        onOpen,
        onError,
        ...(queue && { queue }),
      }),
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
