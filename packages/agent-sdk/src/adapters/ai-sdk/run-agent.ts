import type { AgentOptions } from '../../model/options.js'
import { runWith } from '../../model/run-with.js'
import type { Space } from '../../participant/space.js'
import { AiDialogue, type ModelOptions } from './ai-dialogue.js'

export type ModelAgentOptions = ModelOptions & AgentOptions

/**
 * Answers what this participant is asked with a language model: what it thinks becomes thoughts, the tools of other
 * participants are its tools, and its text is the answer. Resolves when the space is closed.
 */
export const runAgent = (space: Space, options: ModelAgentOptions): Promise<void> =>
  runWith(
    space,
    (turn, earlier) => {
      const dialogue = new AiDialogue(space.id, earlier, options)
      dialogue.ask(turn.from, turn.text)
      return dialogue
    },
    options,
  )
