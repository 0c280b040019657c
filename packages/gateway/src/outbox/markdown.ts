import {
  type MayRead,
  markdownWriter,
  type ReasoningStep,
  seqOfUlid,
  type TurnRecord,
  turnInfo,
} from '@meup/views'
import type { Projection, TrailQuery } from '../ports/projection.js'

const [turnsAtOnce, stepsAtOnce] = [16, 256]

type Trail = Pick<Projection, 'trail' | 'stepsOf'>

/**
 * Turns and jobs with their steps, for people, the oldest first: what `exportThread` writes, but in pieces, as far as the
 * reader may read the steps, and as far as the log went to `head`. Turns whose steps it may not read are left out.
 */
export async function* exportTrail(
  projection: Trail,
  query: Pick<TrailQuery, 'thread' | 'turn'>,
  head: number,
  mayRead: MayRead,
): AsyncGenerator<string, void> {
  const write = markdownWriter()
  let after: string | undefined
  for (;;) {
    const turns = await projection.trail({ ...query, ...(after && { after }), limit: turnsAtOnce })
    for (const turn of turns) {
      after = turn.id
      if (seqOfUlid(turn.id) > head) return
      const pieces = piecesOf(turn, projection, (said) => said.seq <= head && mayRead(said))
      for await (const steps of pieces) yield write(turn, steps)
    }
    if (turns.length < turnsAtOnce) return
  }
}

/** The steps of one turn in pieces that follow each other; a turn without steps is one as well. */
async function* piecesOf(
  turn: TurnRecord,
  projection: Trail,
  mayRead: MayRead,
): AsyncGenerator<readonly ReasoningStep[], void> {
  if (turn.steps === 0 && turnInfo(turn, mayRead) !== undefined) yield []
  for (let from = 0; from < turn.steps; ) {
    const steps = await projection.stepsOf(turn.id, { from, limit: stepsAtOnce })
    const shown = steps.filter(({ source }) => mayRead(source))
    if (shown.length > 0) yield shown
    const last = steps.at(-1)?.step_number ?? from + stepsAtOnce - 1 // All of these have been pruned.
    from = last + 1
  }
}
