import {
  type GrantedCapabilities,
  GrantLog,
  getGrantedCapabilities,
  grantKinds,
  onOneLine,
} from '@meup/folds'
import type { AnyEnvelope, Capability, Envelope, ParticipantInfo } from '@meup/protocol'
import type { Log } from './log.js'

const kinds: ReadonlySet<string> = new Set(grantKinds)

/** Who was given what by whom, as far as the log tells. */
export class Trust {
  readonly #log: Log
  #grants = new GrantLog()
  #earlier: readonly Envelope[] = []
  #source: readonly Envelope[] | undefined
  #first = 0
  #taken = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** What came before all that was loaded. */
  learn(earlier: readonly Envelope[]): void {
    this.#earlier = earlier
    this.#source = undefined
  }

  /** What somebody holds, and where it has it from. `people`: everybody; `now` in milliseconds since the epoch. */
  holdingsOf(id: string, people: readonly ParticipantInfo[], now: number): GrantedCapabilities | undefined {
    this.#follow()
    const grantors = new Set(this.#grants.list().map(({ grantor }) => grantor))
    const concerned = people.filter((each) => each.id === id || grantors.has(each.id))
    return getGrantedCapabilities(concerned, this.#grants, now).find((each) => each.id === id)
  }

  /** Takes what is new; all of it where the log is another one. */
  #follow(): void {
    const { envelopes, first } = this.#log
    if (envelopes !== this.#source || first !== this.#first) {
      this.#grants = new GrantLog()
      this.#taken = 0
      this.#source = envelopes
      this.#first = first
      this.#tell(this.#earlier.filter(({ seq = 0 }) => first === 0 || seq < first))
    }
    this.#tell(envelopes.slice(this.#taken))
    this.#taken = envelopes.length
  }

  #tell(envelopes: readonly Envelope[]): void {
    for (const each of envelopes) if (kinds.has(each.kind)) this.#grants.apply(each as AnyEnvelope)
  }
}

/** A capability in few words: `mcp.request to files · {"method":"tools/call"}`, `files/read_*`. */
export function capabilityText(capability: Capability): string {
  if (typeof capability === 'string') return onOneLine(capability)
  if (!('kind' in capability)) {
    const { tool, arguments: asked } = capability
    return onOneLine(asked === undefined ? tool : `${tool} · ${JSON.stringify(asked)}`)
  }
  const { kind, to, context, payload } = capability
  const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  const parts = [
    `${shown(kind)}${to === undefined ? '' : ` to ${shown(to)}`}${context === undefined ? '' : ` in ${shown(context)}`}`,
    ...(payload === undefined ? [] : [JSON.stringify(payload)]),
  ]
  return onOneLine(parts.join(' · '))
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
