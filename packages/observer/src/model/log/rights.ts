import type { Configuration, RightSources } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import type { Log } from './log.js'

/** What the loaded log says of rights, and what was read of the log before it. */
export class LoadedRights implements RightSources {
  readonly #log: Log
  readonly #earlier: readonly Envelope[]

  /** `earlier`: of the kinds `grantKinds`, in log order. */
  constructor(log: Log, earlier: readonly Envelope[]) {
    this.#log = log
    this.#earlier = earlier
  }

  configurationAt(seq: number): Configuration | undefined {
    const { envelopes } = this.#log
    for (let at = this.#log.countThrough(seq - 1) - 1; at >= 0; at--) {
      const envelope = envelopes[at]
      if (envelope !== undefined && isConfiguration(envelope)) return configurationIn(envelope)
    }
    const before = this.#earlier.findLast((each) => isConfiguration(each) && (each.seq ?? 0) < seq)
    return before && configurationIn(before)
  }

  find(id: string): Envelope | undefined {
    return this.#log.get(id) ?? this.#earlier.find((each) => each.id === id)
  }

  /** Whether all that is known of the right of this request is in the loaded log. */
  isLoaded({ allowedBy = 'configured', seq = 0 }: Envelope): boolean {
    const found = allowedBy === 'configured' ? this.configurationAt(seq) : this.find(allowedBy)
    return found !== undefined || this.#log.first <= 1
  }
}

const isConfiguration = ({ kind, payload }: Envelope): boolean =>
  kind === Kind.systemSpace && payload.event === 'configured'

const configurationIn = ({ payload }: Envelope): Configuration => payload as unknown as Configuration
