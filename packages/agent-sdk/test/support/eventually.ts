import { vi } from 'vitest'

/** Waits until the check passes, at most 15 s, which suffices on a busy machine. */
export const eventually = (check: () => void): Promise<void> =>
  vi.waitFor(check, { timeout: 15_000, interval: 5 })
