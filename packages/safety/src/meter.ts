/** Pays for scanning in advance: throws if nothing is left. One unit is about a microsecond. */
export interface Meter {
  charge(units: number, what: string): void
}

const free: Meter = { charge() {} }

/** The meter stopped a scan, which is not a failure. `cause`: the meter's error. */
export class Stopped extends Error {}

/** Characters scanned per unit without findings. */
const charsPerUnit = 256

/** Charges for scanning this many characters once. */
export const chargeReading = (meter: Meter, characters: number): void =>
  meter.charge(characters / charsPerUnit, what)

/** Maximum costs of closer examinations, approximately. */
const costs = {
  /** Per word of a built-in rule. */
  rule: 5 / 4,
  /** Per word of another rule. */
  match: 6,
  /** Per normalized character. */
  change: 1 / 2,
  /** Per run of percent signs or base64, besides its characters. */
  encoding: 2,
  /** Per masked secret. */
  secret: 12,
} as const

export const chargeLooks = (meter: Meter, looks: number, at: keyof typeof costs): void =>
  meter.charge(looks * costs[at], what)

const what = 'characters to scan for secrets'

/** Charges another meter, and wraps its errors in `Stopped`. */
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
