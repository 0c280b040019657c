/** The year in which this software was first written. */
const firstWritten = Date.UTC(2026, 0)

/** Whether a clock is certainly wrong: without a battery, a machine starts in 1970. */
export const isClockWrong = (now: number): boolean => now < firstWritten
