import { createHash } from 'node:crypto'
import { LogError, type Snapshot } from '@meup/gateway'
import { nanoid } from 'nanoid'
import { type Nats, requestMs } from './connect.js'
import { streamTexts } from './errors.js'
import type { StreamNames } from './streams.js'

/** The message that announces a pruning: the removal of the rows up to `through`, which a snapshot replaces. */
interface PruningRecord {
  readonly epoch: string
  readonly through: number
  /** Hash of the last pruned row, hexadecimal. */
  readonly hash: string
  readonly parts: number
  /** Random part of the subjects of the snapshot's pieces. */
  readonly nonce: string
  /** SHA-256 of the snapshot, hexadecimal. */
  readonly digest: string
}

const partBytes = 256 * 1024

/**
 * The prunings of one space, as the stream records them: each removes the oldest rows of the log, which a snapshot replaces.
 */
export class Prunings {
  readonly #nats: Nats
  readonly #place: StreamNames

  constructor(nats: Nats, place: StreamNames) {
    this.#nats = nats
    this.#place = place
  }

  /** The last pruning, with the epoch of its log. Rejects with `corrupt` if its snapshot is damaged. */
  async last(): Promise<(Snapshot & { readonly epoch: string }) | undefined> {
    const found = await this.#record()
    if (found === undefined) return undefined
    const { epoch, through, hash, parts, nonce, digest } = found.record
    const bytes: Uint8Array[] = []
    for (let part = 0; part < parts; part++) {
      const stored = await this.#findLast(`${this.#place.snapshots}.${nonce}.${part}`)
      if (stored !== null) bytes.push(stored.data)
    }
    const snapshot = Buffer.concat(bytes)
    if (sha256(snapshot) !== digest) {
      const { stream, subject } = this.#place
      throw new LogError('corrupt', streamTexts.damagedSnapshot, { stream, subject, through })
    }
    return { epoch, through, hash: Buffer.from(hash, 'hex'), bytes: snapshot }
  }

  /** Seq of the last pruned row; 0 = no row was pruned. */
  async through(): Promise<number> {
    return (await this.#record())?.record.through ?? 0
  }

  /** Stores a snapshot, and records its pruning in place of the previous one. */
  async keep(epoch: string, { through, hash, bytes }: Snapshot): Promise<void> {
    const before = await this.#record()
    const nonce = nanoid()
    const { js } = this.#nats
    let parts = 0
    for (let at = 0; at < bytes.length; at += partBytes) {
      const part = bytes.subarray(at, at + partBytes)
      await js.publish(`${this.#place.snapshots}.${nonce}.${parts++}`, part, { timeout: requestMs })
    }
    const hex = Buffer.from(hash).toString('hex')
    const record: PruningRecord = { epoch, through, hash: hex, parts, nonce, digest: sha256(bytes) }
    await js.publish(this.#place.pruned, JSON.stringify(record), {
      timeout: requestMs,
      expect: { lastSubjectSequence: before?.at ?? 0 },
    })
    const { stream, snapshots } = this.#place
    if (before !== undefined) {
      await this.#nats.manager.streams.purge(stream, { filter: `${snapshots}.${before.record.nonce}.>` })
    }
  }

  async #record(): Promise<{ readonly at: number; readonly record: PruningRecord } | undefined> {
    const stored = await this.#findLast(this.#place.pruned)
    return stored === null ? undefined : { at: stored.seq, record: stored.json<PruningRecord>() }
  }

  #findLast(subject: string) {
    return this.#nats.manager.streams.getMessage(this.#place.stream, { last_by_subj: subject })
  }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
