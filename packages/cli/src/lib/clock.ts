/** When this software was first written, in milliseconds since the epoch. */
const firstWritten = Date.UTC(2026, 0)

/** Whether a clock is earlier than this software: a machine without a battery starts in 1970. */
export const isClockWrong = (now: number): boolean => now < firstWritten
