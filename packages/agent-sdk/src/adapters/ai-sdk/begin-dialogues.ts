import type { ModelOptions } from '../../model/language-model.js'
import type { BeginDialogue } from '../../model/run-with.js'
import { AiDialogue } from './ai-dialogue.js'

/** Loads the `ai` package, which only those install who have models. Rejects where it is missing. */
export async function beginDialogues(options: ModelOptions): Promise<BeginDialogue> {
  const ai = await loadAi()
  return ({ space, from, text }, earlier) => {
    const dialogue = new AiDialogue(ai, space.id, earlier, options)
    dialogue.ask(from, text)
    return dialogue
  }
}

async function loadAi() {
  try {
    return await import('ai')
  } catch (cause) {
    const advice = 'install version 6 of it beside @meup/agent-sdk'
    throw new Error(`an agent with a language model needs the package ai: ${advice}`, { cause })
  }
}
