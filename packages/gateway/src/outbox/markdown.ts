import {
  type MayRead,
  markdownWriter,
  type ReasoningStep,
  seqOfUlid,
  type TurnRecord,
  turnInfo,
} from '@meup/views'
import type { Projection, TrailQuery } from '../ports/projection.js'
import { charactersOfStep } from './reading.js'

const [turnsAtOnce, stepsAtOnce] = [16, 256]

type Trail = Pick<Projection, 'trail' | 'stepsOf'>

/** Asked after a look at what is not shown, in characters: whether to go on, once that is paid. */
type MayGoOn = (characters: number) => Promise<boolean>

/**
 * Turns and jobs with their steps, for people, the oldest first: what `exportThread` writes, but in pieces, as far as the
 * reader may read the steps, and as far as the log went to `head`. Turns whose steps it may not read are left out.
 */
export async function* exportTrail(
  projection: Trail,
  query: Pick<TrailQuery, 'thread' | 'turn'>,
  head: number,
  mayRead: MayRead,
  mayGoOn: MayGoOn,
): AsyncGenerator<string, void> {
  const write = markdownWriter()
  let after: string | undefined
  for (;;) {
    const turns = await projection.trail({ ...query, ...(after && { after }), limit: turnsAtOnce })
    for (const turn of turns) {
      after = turn.id
      if (seqOfUlid(turn.id) > head) return
      const pieces = piecesOf(turn, projection, (said) => said.seq <= head && mayRead(said))
      for await (const { steps, passed } of pieces) {
        if (steps !== undefined) yield write(turn, steps)
        if (passed > 0 && !(await mayGoOn(passed * charactersOfStep))) return
      }
    }
    if (turns.length < turnsAtOnce) return
  }
}

/** Steps that are shown; absent = there is nothing to show. `passed`: how many others were looked at, a turn being one. */
interface Piece {
  readonly steps?: readonly ReasoningStep[]
  readonly passed: number
}

/** The steps of one turn in pieces that follow each other; a turn without steps is one as well. */
async function* piecesOf(turn: TurnRecord, projection: Trail, mayRead: MayRead): AsyncGenerator<Piece, void> {
  if (turn.steps === 0) yield turnInfo(turn, mayRead) === undefined ? { passed: 1 } : { steps: [], passed: 0 }
  for (let from = 0; from < turn.steps; ) {
    const steps = await projection.stepsOf(turn.id, { from, limit: stepsAtOnce })
    const shown = steps.filter(({ source }) => mayRead(source))
    const passed = steps.length - shown.length
    yield shown.length > 0 ? { steps: shown, passed } : { passed }
    const last = steps.at(-1)?.step_number ?? from + stepsAtOnce - 1 // All of these have been pruned.
    from = last + 1
  }
}
