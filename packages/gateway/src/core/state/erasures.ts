import { type Envelope, getErasure } from '@meup/protocol'

/** Seqs of what was erased, as long as the log has its place [MEUP-10.10]. A fold over the log. */
export class Erasures {
  readonly seqs = new Set<number>()

  apply(envelope: Envelope): void {
    const { payload } = envelope
    const erasure = getErasure(envelope)
    if (erasure !== undefined) this.seqs.add(erasure.seq)
    else if (payload.event === 'pruned') {
      for (const seq of this.seqs) if (seq <= Number(payload.through)) this.seqs.delete(seq)
    }
  }

  snapshot(): readonly number[] {
    return [...this.seqs]
  }

  restore(seqs: readonly number[]): void {
    for (const seq of seqs) this.seqs.add(seq)
  }
}
