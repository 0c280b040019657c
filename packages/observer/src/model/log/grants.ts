import { type GrantedCapabilities, GrantLog, getGrantedCapabilities, grantKinds } from '@meup/folds'
import type { AnyEnvelope, Capability, Envelope, ParticipantInfo } from '@meup/protocol'
import type { Log } from './log.js'

const kinds: ReadonlySet<string> = new Set(grantKinds)

/** Grants of the space by recipient, folded from the log. */
export class GrantIndex {
  readonly #log: Log
  #grants = new GrantLog()
  #earlier: readonly Envelope[] = []
  #source: readonly Envelope[] | undefined
  #first = 0
  #applied = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** Sets the grants that are older than the loaded log. */
  setEarlier(earlier: readonly Envelope[]): void {
    this.#earlier = earlier
    this.#source = undefined
  }

  /** Returns a participant's capabilities and their origin. `people`: all participants; `now`: milliseconds since 1970. */
  getCapabilities(
    id: string,
    people: readonly ParticipantInfo[],
    now: number,
  ): GrantedCapabilities | undefined {
    this.#update()
    const grantors = new Set(this.#grants.list().map(({ grantor }) => grantor))
    const concerned = people.filter((each) => each.id === id || grantors.has(each.id))
    return getGrantedCapabilities(concerned, this.#grants, now).find((each) => each.id === id)
  }

  /** Applies new envelopes; all of them if the log was replaced. */
  #update(): void {
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
  }

  #apply(envelopes: readonly Envelope[]): void {
    for (const each of envelopes) if (kinds.has(each.kind)) this.#grants.apply(each as AnyEnvelope)
  }
}

/** Reads capabilities, one a line: a kind, or JSON. Throws `SyntaxError`, which names the line. */
export function readCapabilities(text: string): Capability[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .flatMap((line, index) => (line === '' ? [] : [readCapability(line, index + 1)]))
}

function readCapability(line: string, number: number): Capability {
  if (!/^[{["]/.test(line)) return line
  try {
    return JSON.parse(line) as Capability
  } catch (error) {
    throw new SyntaxError(`line ${number} is neither a kind nor JSON: ${(error as Error).message}`)
  }
}
