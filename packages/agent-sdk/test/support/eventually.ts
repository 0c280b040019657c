import { vi } from 'vitest'

/** Waits until the check passes; on a busy machine that may take a while. */
export const eventually = (check: () => void): Promise<void> =>
  vi.waitFor(check, { timeout: 15_000, interval: 5 })
