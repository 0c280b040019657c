import { type AnyEnvelope, Kind } from '@meup/protocol'
import type { Turn } from '../agent/turn.js'
import { isAsked } from '../agent/turns.js'
import type { Space } from '../participant/space.js'
import { Answering } from './answering.js'
import type { Dialogue } from './dialogue.js'
import { Memory, type Remembered } from './memory.js'
import { type AgentOptions, settle } from './options.js'
import { Toolbox } from './toolbox.js'

/** Begins a conversation with a model about a turn; `earlier` = what was said before. */
export type BeginDialogue = (turn: Turn, earlier: readonly Remembered[]) => Dialogue

/**
 * Answers what this participant is asked with a model, whichever `begin` talks to. Resolves when the space is closed.
 * Whoever has asked and says more meanwhile steers the answer; it begins no other turn.
 */
export async function runWith(space: Space, begin: BeginDialogue, options: AgentOptions): Promise<void> {
  const settled = settle(options)
  const { trigger = isAsked } = options
  const memory = new Memory(space.id, settled.memory)
  const toolbox = new Toolbox(space, options.tools, (error) => settled.onError(error, undefined))
  const running = new Set<Answering>()
  const forget = (): void => memory.forget()
  const take = (envelope: AnyEnvelope): void => {
    memory.take(envelope)
    toolbox.take(envelope)
    if (envelope.kind === Kind.participantClear && envelope.to?.includes(space.id)) forget()
  }
  const answer = async (turn: Turn): Promise<void> => {
    const dialogue = begin(turn, memory.before(turn.trigger))
    const answering = new Answering(turn, { dialogue, toolbox, options: settled })
    running.add(answering)
    await answering.run().finally(() => running.delete(answering))
  }
  space.on('envelope', take).on('lost', forget)
  try {
    await space.eachTurn(answer, {
      concurrency: settled.concurrency,
      trigger: (message, seat) =>
        trigger(message, seat) && ![...running].some((each) => each.steering.redirect(message)),
      onError: settled.onError,
    })
  } finally {
    space.off('envelope', take).off('lost', forget)
  }
}
