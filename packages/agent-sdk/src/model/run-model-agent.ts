import { type AnyEnvelope, Kind } from '@meup/protocol'
import { isAsked, type Turn, type TurnOptions } from '../agent/turns.js'
import type { Seat } from '../client/types.js'
import { Answering } from './answering.js'
import type { Dialogue } from './dialogue.js'
import { Memory, type Remembered } from './memory.js'
import { type AgentOptions, settle } from './options.js'
import { Steering } from './steering.js'
import { type Asked, Toolbox } from './toolbox.js'

/** Begins a conversation with a model about a turn; `earlier` = what was said before. */
export type BeginDialogue = (turn: Turn, earlier: readonly Remembered[]) => Dialogue

/** What an agent with a model needs of its space. */
type AgentSeat = Seat &
  Asked & {
    eachTurn(
      handler: (turn: Turn) => Promise<void>,
      options: TurnOptions & { concurrency?: number },
    ): Promise<void>
  }

/**
 * Answers what this participant is asked with a model, whichever `begin` talks to; what is asked before it is there waits
 * for it. Resolves when the space is closed, rejects when `begin` does. Whoever has asked and says more meanwhile steers
 * the answer; it begins no other turn.
 */
export async function runWith(
  space: AgentSeat,
  begin: Promise<BeginDialogue>,
  options: AgentOptions,
): Promise<void> {
  const settled = settle(options, space)
  const { trigger = isAsked } = options
  const memory = new Memory(space.id, settled.memory)
  const toolbox = new Toolbox(space, options.tools, (error) => settled.onError(error, undefined))
  /** Also of turns that wait to begin. */
  const open = new Map<Turn, Steering>()
  const failed = new Promise<never>((_, reject) => begin.catch(reject))
  let isOver = false
  const forget = (): void => memory.forget()
  const take = (envelope: AnyEnvelope): void => {
    memory.take(envelope)
    toolbox.take(envelope)
    if (envelope.kind === Kind.participantClear && envelope.to?.includes(space.id)) forget()
  }
  const answer = async (turn: Turn): Promise<void> => {
    const steering = open.get(turn) ?? new Steering(turn)
    try {
      const dialogue = (await begin)(turn, memory.before(turn.trigger))
      await new Answering(turn, { dialogue, steering, toolbox, options: settled }).run()
    } finally {
      open.delete(turn)
    }
  }
  const isMine: TurnOptions['trigger'] = (message, seat) =>
    !isOver && trigger(message, seat) && ![...open.values()].some((each) => each.redirect(message))
  const onOpen: TurnOptions['onOpen'] = (turn) => open.set(turn, new Steering(turn))
  const report = (error: unknown): void => settled.onError(error, undefined)
  space.on('envelope', take)
  space.on('lost', forget)
  space.on('trouble', report)
  const { concurrency, onError } = settled
  try {
    await Promise.race([space.eachTurn(answer, { concurrency, trigger: isMine, onOpen, onError }), failed])
  } finally {
    isOver = true
    space.off('envelope', take)
    space.off('lost', forget)
    space.off('trouble', report)
  }
}
