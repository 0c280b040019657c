import type { WorkMeter } from '@meup/protocol'

/** Of the state, which is in memory. */
const rowWork = 1 / 16
/** By their id, in the log: at worst on the disk. */
const lookupWork = 20

/** Charges for rows of the state that are walked through; `what` are they? */
export const chargeRows = (meter: WorkMeter, rows: number, what: string): void =>
  meter.charge(rows * rowWork, what)

export const chargeLookups = (meter: WorkMeter, ids: number): void =>
  meter.charge(ids * lookupWork, 'ids to look up')
