/** Pays for looks at texts, each before it is taken: throws where nothing is left. One unit is about a microsecond. */
export interface Meter {
  charge(units: number, what: string): void
}

const free: Meter = { charge() {} }

/** The meter has stopped a scan: this is no failure of it. `cause` is what the meter has thrown. */
export class Stopped extends Error {}

/** Characters that are read for one unit, where there is nothing to look at more closely. */
const charsPerUnit = 256

/** Charges for one reading of so many characters. */
export const chargeReading = (meter: Meter, characters: number): void =>
  meter.charge(characters / charsPerUnit, what)

/** What closer looks cost at worst, or nearly so. */
const costs = {
  /** At a word of a rule of this package. */
  rule: 5 / 4,
  /** At a word of anything else. */
  match: 6,
  /** At characters that are read as others. */
  change: 1 / 2,
  /** At a run of percent signs or of base64, beside its characters. */
  encoding: 2,
  /** At a secret, to mask it. */
  secret: 12,
} as const

export const chargeLooks = (meter: Meter, looks: number, at: keyof typeof costs): void =>
  meter.charge(looks * costs[at], what)

const what = 'characters to scan for secrets'

/** Charges another meter, and tells when that stops by an error of its own. */
export const stopping = (meter: Meter | undefined): Meter =>
  meter === undefined
    ? free
    : {
        charge(units, what) {
          try {
            meter.charge(units, what)
          } catch (cause) {
            throw new Stopped('', { cause })
          }
        },
      }
