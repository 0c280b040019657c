import {
  type Configuration,
  type GrantedCapabilities,
  GrantLog,
  getGrantedCapabilities,
  grantKinds,
  type RightSources,
} from '@meup/folds'
import type { Capability, Envelope, ParticipantInfo } from '@meup/protocol'
import type { Log } from './log.js'

const kinds: ReadonlySet<string> = new Set(grantKinds)

/** Grants and configurations of the space, folded from the loaded log and from earlier envelopes that were read separately. */
export class GrantIndex implements RightSources {
  readonly #log: Log
  #grants = new GrantLog()
  #earlier: readonly Envelope[] = []
  #source: readonly Envelope[] | undefined
  #first = 0
  #applied = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** Sets the envelopes of `grantKinds` that are older than the loaded log, in log order. */
  setEarlier(earlier: readonly Envelope[]): void {
    this.#earlier = earlier
    this.#source = undefined
  }

  /** A participant's capabilities with their origin. `people`: all participants; `now`: ms since the epoch. */
  getCapabilities(
    id: string,
    people: readonly ParticipantInfo[],
    now: number,
  ): GrantedCapabilities | undefined {
    const log = this.#update()
    const grantors = new Set(log.list(now).map(({ grantor }) => grantor))
    const concerned = people.filter((each) => each.id === id || grantors.has(each.id))
    return getGrantedCapabilities(concerned, log, now).find((each) => each.id === id)
  }

  configurationAt(seq: number): Configuration | undefined {
    return this.#update().configurationAt(seq)
  }

  find(id: string): Envelope | undefined {
    return this.#log.get(id) ?? this.#earlier.find((each) => each.id === id)
  }

  /**
   * Whether the configuration, grant or invitation that allowed this request is loaded, or the log is loaded from its start.
   */
  isLoaded({ allowedBy = 'configured', seq = 0 }: Envelope): boolean {
    const found = allowedBy === 'configured' ? this.configurationAt(seq) : this.find(allowedBy)
    return found !== undefined || this.#log.first <= 1
  }

  /** Applies new envelopes; starts over if the log was replaced. */
  #update(): GrantLog {
    const { envelopes, first } = this.#log
    if (envelopes !== this.#source || first !== this.#first) {
      this.#grants = new GrantLog()
      this.#applied = 0
      this.#source = envelopes
      this.#first = first
      this.#apply(this.#earlier.filter(({ seq = 0 }) => first === 0 || seq < first))
    }
    this.#apply(envelopes.slice(this.#applied))
    this.#applied = envelopes.length
    return this.#grants
  }

  #apply(envelopes: readonly Envelope[]): void {
    for (const each of envelopes) if (kinds.has(each.kind)) this.#grants.apply(each)
  }
}

/** Parses capabilities, one per line: a kind, or JSON. Throws `SyntaxError` with the line. */
export function readCapabilities(text: string): Capability[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .flatMap((line, index) => (line === '' ? [] : [readCapability(line, index + 1)]))
}

function readCapability(line: string, number: number): Capability {
  if (!/^[{["]/.test(line)) {
    if (/\s/.test(line) && !line.startsWith('re:'))
      throw new SyntaxError(
        `line ${number}: "${line}" is neither a kind nor JSON. Write one capability a line.`,
      )
    return line
  }
  try {
    return JSON.parse(line) as Capability
  } catch (error) {
    throw new SyntaxError(`line ${number} is neither a kind nor JSON: ${(error as Error).message}`)
  }
}
