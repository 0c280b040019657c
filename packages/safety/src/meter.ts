/**
 * Accounts for scanning: `charge` is called before the work, and throws if the budget is used up. One unit is about a
 * microsecond.
 */
export interface Meter {
  charge(units: number, what: string): void
}

const free: Meter = { charge() {} }

/**
 * Thrown if the meter stops a scan because the budget is used up, in contrast to a scan that fails. `cause`: the meter's error.
 */
export class Stopped extends Error {}

/** Characters that can be scanned for one unit, if nothing is found. */
const charsPerUnit = 256

/** Charges for scanning this many characters once. */
export const chargeReading = (meter: Meter, characters: number): void =>
  meter.charge(characters / charsPerUnit, what)

/** Approximate maximum costs of closer examinations, in units. */
const costs = {
  /** Examining one occurrence of a built-in rule's keyword. */
  rule: 5 / 4,
  /** Examining one occurrence of the keyword of an operator's rule. */
  match: 6,
  /** Normalizing one character. */
  change: 1 / 2,
  /** Decoding one run of percent escapes or base64, besides its characters. */
  encoding: 2,
  /** Masking one secret. */
  secret: 12,
} as const

export const chargeLooks = (meter: Meter, looks: number, at: keyof typeof costs): void =>
  meter.charge(looks * costs[at], what)

const what = 'characters to scan for secrets'

/** Wraps a meter, so that its errors can be recognized as `Stopped`. */
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
