import type { Configuration, RightSources } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import { mayRead, type Reader } from '../core/may-read.js'
import type { Space } from '../core/space.js'
import { parseEnvelope } from '../log/entries.js'

type Found = Pick<Envelope, 'kind' | 'from' | 'payload'>

/**
 * Finds the configurations, grants and invitations that let calls pass, as far as one reader may read them. Made for one
 * request, during which lookups are cached.
 */
export class LoggedRights implements RightSources {
  readonly #space: Pick<Space, 'log' | 'state' | 'decideAudience'>
  readonly #reader: Reader
  readonly #found = new Map<string, Found | undefined>()

  constructor(space: Pick<Space, 'log' | 'state' | 'decideAudience'>, reader: Reader) {
    this.#space = space
    this.#reader = reader
  }

  /**
   * The configuration that applied before a seq. The latest configuration is taken from the state, because its row may be
   * pruned.
   */
  configurationAt(seq: number): Configuration | undefined {
    const { configurations, configured } = this.#space.state
    const record = configurations.findLast((each) => each.seq < seq)
    if (record === undefined) return undefined
    const payload = record === configurations.at(-1) ? configured : this.find(record.id)?.payload
    return payload as Configuration | undefined
  }

  find(id: string): Found | undefined {
    if (!this.#found.has(id)) this.#found.set(id, this.#read(id))
    return this.#found.get(id)
  }

  /**
   * Finds an envelope by its id. Reads its body only for the `kinds` that give rights, because descriptions of rights quote
   * only those.
   */
  #read(id: string): Found | undefined {
    const { log } = this.#space
    const heading = log.heading(id)
    if (heading === undefined || !mayRead(this.#reader, this.#space.decideAudience(heading))) return undefined
    if (!kinds.has(heading.kind)) return { ...heading, payload: {} }
    const row = log.find(id)
    return row && parseEnvelope(row)
  }
}

const kinds: ReadonlySet<string> = new Set([Kind.capabilityGrant, Kind.spaceInvite, Kind.systemSpace])
