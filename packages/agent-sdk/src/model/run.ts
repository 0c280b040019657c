import { patiently } from '../agent/respond.js'
import type { Turn } from '../agent/turn.js'
import type { CallOptions } from '../participant/seat.js'
import type { Reasoning } from '../reasoning/reasoning.js'

/** What an answer needs of the run in which it is thought about. */
export interface Run
  extends Pick<Reasoning, 'signal' | typeof Symbol.asyncDispose>,
    Record<'thought' | 'cancel', (text: string) => Promise<unknown>> {
  /** `undefined`: nobody is told what is thought. */
  readonly context: string | undefined
  /** Where its calls belong. */
  readonly place: Pick<CallOptions, 'context' | 'correlationId'>
  conclude(message: string | undefined, options: { readonly metadata: object }): Promise<unknown>
}

/** Opens a run about a turn. Where the space takes no start, that is told, and the answer is found in silence. */
export async function openRun(turn: Turn, metadata: object, trouble: (error: unknown) => void): Promise<Run> {
  try {
    const run = await patiently(() => turn.reason(undefined, { metadata }))
    return Object.assign(run, { place: { context: run.context } })
  } catch (error) {
    if (turn.space.ended || turn.signal.aborted) throw error
    trouble(error)
    return silent(turn)
  }
}

const silent = ({ signal, trigger }: Turn): Run => ({
  context: undefined,
  place: { correlationId: trigger.id },
  signal,
  thought: nothing,
  conclude: nothing,
  cancel: nothing,
  [Symbol.asyncDispose]: nothing,
})

const nothing = (): Promise<void> => Promise.resolve()
