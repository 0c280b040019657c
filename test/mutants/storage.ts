import type { Mutant } from './mutant.js'

const gateway = 'packages/gateway'

/** Wrong edits of storing, pruning and erasing. The comment of each says what goes wrong. */
export const storage: readonly Mutant[] = [
  {
    // An envelope that the disk refused is acknowledged.
    package: gateway,
    function: 'commit',
    replace: 'refusal(id, reason)',
    by: '({ id })',
    tests: ['packages/gateway/test/sqlite-recovery.test.ts'],
  },
  {
    // The latest hash of a chain, kept for the next row, shares a buffer with the next row of any space, which overwrites it.
    package: gateway,
    function: 'ChainWriter.#insertAll',
    replace: 'return { seq, hash: Buffer.from(hash) }',
    by: 'return { seq, hash }',
    tests: ['packages/gateway/test/log.test.ts', 'packages/gateway/test/short-way.test.ts'],
  },
  {
    // Links of the chain are hashed with the wrong seq, so that programs that follow the specification cannot verify them.
    package: gateway,
    function: 'putLink',
    replace: 'linked.writeUInt32BE(seq % 2 ** 32,',
    by: 'linked.writeUInt32BE((seq - 1) % 2 ** 32,',
    tests: ['packages/gateway/test/log.test.ts', 'packages/gateway/test/verify-export.test.ts'],
  },
  {
    // A row that was changed together with its own hash (its leaf of the chain) passes the verification of the chain.
    package: gateway,
    function: 'ChainVerifier.add',
    replace: 'Buffer.compare(leaf, row.leaf) !== 0 || !expected.equals(row.hash)',
    by: 'Buffer.compare(leaf, row.leaf) !== 0',
    tests: ['packages/gateway/test/audit-verify.test.ts'],
  },
  {
    // A gateway starts from a saved state of the space (a checkpoint) that is damaged, so that participants may have wrong
    // rights.
    package: gateway,
    function: 'readCheckpoint',
    replace: 'hashCheckpoint(stored, stored).equals(digest)',
    by: 'digest.length === 32',
    tests: ['packages/gateway/test/checkpoints.test.ts'],
  },
  {
    // Rows are pruned although the record about them was not committed.
    package: gateway,
    function: 'Retention.#prune',
    replace: '!(await this.#space.committed(seq))',
    by: 'false',
    tests: ['packages/gateway/test/retention.test.ts'],
  },
  {
    // Pruned envelopes are still found, so that a sender that reuses an id gets an old envelope.
    package: gateway,
    function: 'prune',
    replace: 'space.ids.delete(row.id)',
    by: '',
    tests: ['packages/gateway/test/log.test.ts', 'packages/gateway/test/retention.test.ts'],
  },
  {
    // Senders in the batches after a failed one never get an answer.
    package: gateway,
    function: 'GroupCommit.#run',
    replace: 'const lost = [...batch, ...this.#waiting]',
    by: 'const lost = [...batch]',
    tests: ['packages/gateway/test/failure.test.ts', 'packages/gateway/test/recovery.test.ts'],
  },
  {
    // An envelope that was refused as unavailable is taken for a repeated one when it is sent again, and is never logged.
    package: gateway,
    function: 'Space.#recover',
    replace: 'this.ids.settle(lost)',
    by: '',
    tests: ['packages/gateway/test/failure.test.ts', 'packages/gateway/test/recovery.test.ts'],
  },
  {
    // A participant that uses the id of another sender's envelope gets that envelope.
    package: gateway,
    function: 'KnownIds.find',
    replace: 'heading.from === from ? this.#log.find(id) : undefined',
    by: 'this.#log.find(id)',
    tests: ['packages/gateway/test/pipeline.test.ts'],
  },
  {
    // An erased envelope stays in memory, and is shown again.
    package: gateway,
    function: 'ParsedRows.get',
    replace: ' || this.#space.wasErased(seq)',
    by: '',
    tests: ['packages/gateway/test/parsed-rows.test.ts'],
  },
  {
    // The write-ahead log grows without limit, because a batch that arrived during a checkpoint counts as part of it.
    package: gateway,
    function: 'InlineWriter.#foldSome',
    replace: 'isWhole && commits === this.#commits',
    by: 'isWhole',
    tests: ['packages/gateway/test/short-way.test.ts'],
  },
  {
    // Erased text remains in the file: in free pages, or in the write-ahead log.
    package: gateway,
    function: 'overwriting',
    replace: "db.pragma('secure_delete = ON')",
    by: '',
    tests: ['packages/gateway/test/erasing.test.ts'],
  },
  {
    package: gateway,
    function: 'emptyWal',
    replace: "db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0",
    by: 'true',
    tests: ['packages/gateway/test/erasing.test.ts'],
  },
  {
    // Erased text is shown until the next start.
    package: gateway,
    function: 'Space.decideAudience',
    replace: 'this.wasErased(envelope.seq) ? nobody : ',
    by: '',
    tests: ['packages/gateway/test/erasing.test.ts'],
  },
  {
    // Anyone who can write the file can remove envelopes as if they had been erased, and the log passes verification.
    package: gateway,
    function: 'ChainVerifier.add',
    replace: 'if (isBlank) this.#unrecorded.set(row.seq, this.hash)',
    by: 'if (isBlank) this.column = undefined',
    tests: ['packages/gateway/test/erasing.test.ts'],
  },
  {
    // A proposal that was erased stays open and can be fulfilled.
    package: 'packages/folds',
    function: 'Calls.#onSpace',
    replace: 'id === erased',
    by: 'false',
    tests: ['packages/folds/test/call-fixtures.test.ts', 'packages/gateway/test/erasing.test.ts'],
  },
  {
    // A restored backup keeps its checkpoint, which may contain forged rights.
    package: gateway,
    function: 'restoreLogs',
    replace: "db.exec('DELETE FROM checkpoints')",
    by: '',
    tests: ['packages/gateway/test/backup.test.ts'],
  },
  {
    package: gateway,
    function: 'verifyLogs',
    replace: 'if (!chain.add(fromStored(stored))) throw changed(name, chain.last + 1)',
    by: 'chain.add(fromStored(stored))',
    tests: ['packages/gateway/test/backup.test.ts'],
  },
  {
    // The duration of a search reveals messages that the reader may not read.
    package: gateway,
    function: 'findBlocks',
    replace: ' && mayRead(view.getUint16(at + 4))',
    by: '',
    tests: ['packages/gateway/test/private-reading.test.ts'],
  },
  {
    // The words of an erased envelope stay in the search index.
    package: gateway,
    function: 'WordIndex.prepare',
    replace: 'if (erasure !== undefined) segments.add(segmentOf(erasure.seq))',
    by: '',
    tests: ['packages/gateway/test/words.test.ts'],
  },
  {
    // A search does not find words in other spellings, such as with other case.
    package: gateway,
    function: 'fold',
    replace: 'asOne(character.toUpperCase(), character)',
    by: 'character',
    tests: ['packages/gateway/test/word-tokens.test.ts', 'packages/gateway/test/words.test.ts'],
  },
  {
    // The beginning of an id matches envelopes that the reader may not read.
    package: gateway,
    function: 'resolveEnvelope',
    replace: '...page.filter(mayBeRead)',
    by: '...page',
    tests: ['packages/gateway/test/http-envelope.test.ts'],
  },
]
