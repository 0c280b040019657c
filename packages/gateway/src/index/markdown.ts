import { type Beginning, markdownHeader, Role, turnMarkdownWriter } from '@meup/folds'
import type { Reader } from '../core/may-read.js'
import type { Space } from '../core/space.js'
import { yieldIfBusy } from '../core/yielding.js'
import { countCharacters, type FoldedTurns } from './folded-turns.js'
import { LoggedRights } from './rights.js'
import { rowsAt, type TurnIndex } from './turn-index.js'

const turnsAtOnce = 16
/** Envelopes that are rendered at once. */
const envelopesPerPiece = 64

/** Called with the cost of each turn, in characters. Resolves once it is paid, to whether to continue. */
type WaitForBudget = (characters: number) => Promise<boolean>

/** Selects turns of an agent; default: all of the space. */
interface TrailQuery {
  readonly agent?: string
  readonly number?: number
  /** Only the latest readable turns, at most this number. */
  readonly limit?: number
}

/** Turns that are scanned for readable ones. */
const maxScanned = 2000

/**
 * Renders turns and jobs (work that no one asked for) as Markdown, oldest first and in pieces: their readable envelopes up to
 * `head`. Skips turns without readable envelopes.
 */
export async function* exportTurns(
  index: TurnIndex,
  folded: FoldedTurns,
  space: Pick<Space, 'log' | 'parsed' | 'state' | 'decideAudience' | 'safety' | 'config'>,
  query: TrailQuery,
  head: number,
  reader: Reader,
  waitForBudget: WaitForBudget,
): AsyncGenerator<string, void> {
  const writer = turnMarkdownWriter({
    guard: (text) => space.safety.guard(text),
    rights: new LoggedRights(space, reader),
    ...(await readUntil(space, head)),
  })
  let isFirst = true
  const isSeen = async (each: Beginning): Promise<boolean> =>
    (await folded.look(index, each, reader)).view !== undefined
  for await (const beginning of turnsIn(index, query, isSeen)) {
    if (beginning.seq > head) break
    const look = await folded.look(index, beginning, reader)
    await yieldIfBusy()
    if (!(await waitForBudget(countCharacters(look)))) return
    const { view } = look
    if (view === undefined) continue
    const { record, envelopes, isTruncated } = view
    const { id, agent, turnNumber, startedAt, state, trigger } = record
    const summary = { id, agent, turnNumber, startedAt, state, ...(isTruncated && { isTruncated }) }
    // Skips envelopes that only let a proposal of this turn expire: they belong to another turn.
    const own = envelopes.filter(({ roles }) => roles !== Role.expire)
    const said = own.map(({ source }) => source.seq).filter((seq) => seq <= head)
    const seqs = trigger === null ? said : [trigger.source.seq, ...said]
    if (isFirst) yield markdownHeader(`Turns of ${space.config.name}`, space.safety.digest)
    isFirst = false
    for (let from = 0; from < seqs.length; from += envelopesPerPiece) {
      const piece = []
      for await (const rows of rowsAt(space.log, seqs.slice(from, from + envelopesPerPiece)))
        piece.push(...rows.map((row) => space.parsed.get(row)))
      await yieldIfBusy()
      yield writer.write(summary, piece)
    }
  }
  const end = writer.end()
  if (end !== '') yield end
}

async function* turnsIn(
  index: TurnIndex,
  { agent, number, limit }: TrailQuery,
  isSeen: (turn: Beginning) => Promise<boolean>,
): AsyncGenerator<Beginning, void> {
  if (agent !== undefined && number !== undefined) {
    const found = index.turn(agent, number)
    if (found !== undefined) yield found
    return
  }
  if (limit !== undefined) {
    yield* await findLatest(index, agent, limit, isSeen)
    return
  }
  for (let after = 0; ; ) {
    const turns = index.trail(after, agent, turnsAtOnce)
    yield* turns
    if (turns.length < turnsAtOnce) return
    after = turns.at(-1)?.turn ?? after
  }
}

async function findLatest(
  index: TurnIndex,
  agent: string | undefined,
  limit: number,
  isSeen: (turn: Beginning) => Promise<boolean>,
): Promise<Beginning[]> {
  const found: Beginning[] = []
  let before = Number.MAX_SAFE_INTEGER
  for (let looked = 0; looked < maxScanned; looked += turnsAtOnce) {
    const turns = index.latest(before, agent, turnsAtOnce)
    for (const turn of turns) {
      if (await isSeen(turn)) found.unshift(turn)
      if (found.length === limit) return found
      before = turn.turn
    }
    if (turns.length < turnsAtOnce) return found
  }
  return found
}

/** The time of the head, which decides whether proposals have expired. */
async function readUntil({ log }: Pick<Space, 'log'>, head: number): Promise<{ until?: string }> {
  const [row] = await log.read({ after: head - 1, before: head + 1, limit: 1, only: 'headings' })
  return row === undefined ? {} : { until: row.ts }
}
