import assert from 'node:assert/strict'
import type { Checkpoint, EnvelopeLog } from '../ports/envelope-log.js'
import { all, assertRefused, bytes, draft, drafts, type WithLog } from './log-fixtures.js'

const checkpoint = (through: number, text = `state at ${through}`): Checkpoint => ({
  through,
  format: 'text 1',
  bytes: bytes(text),
})

export function describeCheckpoint(withLog: WithLog): void {
  withLog('gives none until one is kept', async (log) => {
    assert.equal(await log.checkpoint(), undefined)
    await log.append(drafts(1, 3))
    assert.equal(await log.checkpoint(), undefined)
  })

  withLog('gives the one that was kept last, and changes no row', async (log) => {
    await log.append(drafts(1, 5))
    const before = await all(log)
    const first = checkpoint(3)
    const keeping = log.keep(first)
    first.bytes.fill(0)
    await keeping
    assert.deepEqual(await textOfCheckpoint(log), [3, 'text 1', 'state at 3'])
    await log.keep(checkpoint(5, ''))
    assert.deepEqual(await textOfCheckpoint(log), [5, 'text 1', ''])
    await log.keep(checkpoint(4))
    assert.deepEqual(await textOfCheckpoint(log), [4, 'text 1', 'state at 4'])
    assert.deepEqual(await all(log), before)
    assert.deepEqual([log.oldest, log.head, log.snapshot], [1, 5, undefined])
  })

  withLog('refuses one about a row that is not there', async (log) => {
    const refused = (...places: number[]) =>
      Promise.all(places.map((through) => assertRefused(log.keep(checkpoint(through)), 'range')))
    await refused(0, 1)
    await log.append(drafts(1, 5))
    await log.prune(2, bytes('pruned'))
    await log.keep(checkpoint(4))
    await refused(-1, 0, 1, 2, 6, 3.5, Number.NaN, Number.POSITIVE_INFINITY)
    assert.deepEqual(await textOfCheckpoint(log), [4, 'text 1', 'state at 4'])
  })

  withLog('is taken along by what is pruned up to it, and by nothing else', async (log) => {
    await log.append(drafts(1, 900))
    await log.keep(checkpoint(500))
    await log.prune(499, bytes('pruned'))
    assert.deepEqual(await textOfCheckpoint(log), [500, 'text 1', 'state at 500'])
    await log.prune(500, bytes('pruned'))
    assert.equal(await log.checkpoint(), undefined)
    await log.keep(checkpoint(600))
    await log.prune(700, bytes('pruned'))
    assert.equal(await log.checkpoint(), undefined)
  })

  withLog('outlives a restart, whatever is appended behind it', async (log, opened) => {
    await log.append(drafts(1, 3))
    const large = new Uint8Array(3 * 1024 * 1024).map((_, i) => i * 7)
    await Promise.all([log.keep({ through: 3, format: 'large', bytes: large }), log.append([draft(4)])])
    const again = await (await opened.reopen()).open('main')
    const kept = await again.checkpoint()
    assert.ok(kept !== undefined && kept !== 'damaged')
    assert.deepEqual([kept.through, kept.format], [3, 'large'])
    assert.ok(Buffer.from(large).equals(kept.bytes))
  })

  withLog('of two spaces are apart', async (log, { store }) => {
    const other = await store.open('other')
    await Promise.all([log.append(drafts(1, 3)), other.append(drafts(1, 3))])
    await log.keep(checkpoint(2))
    assert.equal(await other.checkpoint(), undefined)
  })
}

async function textOfCheckpoint(
  log: EnvelopeLog,
): Promise<[through: number, format: string, text: string] | undefined> {
  const kept = await log.checkpoint()
  assert.notEqual(kept, 'damaged')
  if (kept === undefined || kept === 'damaged') return undefined
  return [kept.through, kept.format, new TextDecoder().decode(kept.bytes)]
}
