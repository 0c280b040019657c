const [shortestMs, longestMs] = [1000, 10_000]
/** While the gateway is busy, turns and steps get one part in so many and one of the time. */
const restPerWork = 9

/**
 * Milliseconds until the projection goes on after it has worked for `workMs`, where nobody waits for it. One second even
 * where there is time, so that it does not do for each envelope what it can do for many; ten at most, since what took long
 * was mostly waiting, for the disk or for other programs.
 */
export const restMs = (workMs: number, isBusy: boolean): number =>
  isBusy ? Math.min(Math.max(restPerWork * workMs, shortestMs), longestMs) : shortestMs
