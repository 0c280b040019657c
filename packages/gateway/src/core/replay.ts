import { Assigner, type AssignSnapshot } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { parseEnvelope } from '../log/entries.js'
import type { Checkpoint, EnvelopeLog } from '../ports/envelope-log.js'
import type { Logger } from '../ports/logger.js'
import { SpaceState } from './state/state.js'

const page = 1000
const decoder = new TextDecoder()

/** Replays the log up to `through`, starting from the snapshot of its pruned part [MEUP-3.4]. */
export async function replayLog(log: EnvelopeLog, through = log.head): Promise<SpaceState> {
  return follow(restoreState(log), log, through)
}

/**
 * The snapshot that replaces the log up to `through` when it is pruned [MEUP-10.3]: the state, and the memory of the turn
 * index, which it needs to assign later envelopes to turns.
 */
export async function snapshotAt(log: EnvelopeLog, through: number): Promise<Uint8Array> {
  const turns = new Assigner(log.epoch)
  const { snapshot } = log
  if (snapshot !== undefined) turns.restore(turnMemoryIn(snapshot.bytes, snapshot.through, log.epoch))
  const state = await follow(restoreState(log), log, through, (envelope) => void turns.assign(envelope))
  const text = decoder.decode(state.toSnapshot())
  return new TextEncoder().encode(`${text.slice(0, -1)},"turns":${JSON.stringify(turns.snapshot())}}`)
}

/** Reads the memory of the turn index from a snapshot; an empty one if the snapshot contains none. */
export function turnMemoryIn(bytes: Uint8Array, through: number, epoch: string): AssignSnapshot {
  const { turns } = JSON.parse(decoder.decode(bytes)) as { readonly turns?: AssignSnapshot }
  return turns ?? { ...new Assigner(epoch).snapshot(), seq: through }
}

function restoreState({ snapshot }: EnvelopeLog): SpaceState {
  return snapshot === undefined ? new SpaceState() : SpaceState.from(snapshot.bytes, snapshot.through)
}

/** The same state as `replayLog`, from the checkpoint and the rows after it. Without a usable checkpoint, replays the whole log. */
export async function replayFromCheckpoint(
  log: EnvelopeLog,
  space: string,
  logger: Logger,
  through = log.head,
): Promise<SpaceState> {
  const kept = await log.checkpoint()
  if (kept === undefined) return replayLog(log, through)
  const state = stateIn(kept, { head: through })
  if (state instanceof SpaceState) return follow(state, log, through)
  logger.warn({ space, reason: state }, 'the checkpoint of the log cannot be read: all of the log is read')
  return replayLog(log, through)
}

/** The state of a checkpoint, or why it is unusable. */
function stateIn(kept: Checkpoint | 'damaged', { head }: Pick<EnvelopeLog, 'head'>): SpaceState | string {
  if (kept === 'damaged') return 'it is damaged, or of another log'
  const { format, through } = kept
  if (format !== SpaceState.format) return `its format is ${format}; this gateway knows ${SpaceState.format}`
  if (through > head) return `it covers rows up to ${through}, and the log ends at ${head}`
  return SpaceState.from(kept.bytes, through)
}

async function follow(
  state: SpaceState,
  log: EnvelopeLog,
  through: number,
  alongside: (envelope: Envelope) => void = () => {},
): Promise<SpaceState> {
  while (state.seq < through) {
    const rows = await log.read({ after: state.seq, before: through + 1, limit: page })
    if (rows[0]?.seq !== state.seq + 1)
      throw new Error(`row ${state.seq + 1} of the log is missing, or has just been pruned`)
    for (const row of rows) {
      const envelope = parseEnvelope(row)
      state.apply(envelope, row.body)
      alongside(envelope)
    }
  }
  return state
}
