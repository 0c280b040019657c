import type { SpaceClient } from '@meup/agent-sdk'
import { ProtocolError } from '@meup/protocol'

export const kinds = ['reasoning.start', 'reasoning.thought', 'reasoning.conclusion', 'chat'] as const
type Tried = (typeof kinds)[number]

/** The gateway's answer to an envelope of each kind: `accepted`, or the code of the refusal. */
export type Answers = Readonly<Record<Tried, string>>

/**
 * Sends an envelope of each kind, one after another. Thoughts and conclusions are sent in the run that this agent has begun or,
 * if it may not begin one, in `someonesRun`. Also returns the id of that run.
 */
export async function tryAll(
  space: SpaceClient,
  someonesRun: string,
): Promise<{ run: string; answers: Answers }> {
  const answers: Partial<Record<Tried, string>> = {}
  let run = someonesRun
  for (const kind of kinds) {
    const isInside = kind === 'reasoning.thought' || kind === 'reasoning.conclusion'
    const draft = { kind, payload: { message: `${space.id} tries it` }, ...(isInside && { context: run }) }
    const foreseen = space.can(draft)
    try {
      const { id } = await space.send(draft)
      answers[kind] = 'accepted'
      if (kind === 'reasoning.start') run = id
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      answers[kind] = error.code
    }
    if (foreseen !== (answers[kind] === 'accepted'))
      throw new Error(`can() is wrong about ${kind} from ${space.id}`)
  }
  return { run, answers: answers as Answers }
}
