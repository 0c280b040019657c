import { defineConfig } from 'vitest/config'
import { totalsReporter } from './test/support/reporter.js'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'protocol/test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    setupFiles: ['test/support/seed.ts'],
    reporters: ['default', totalsReporter],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The machine may be busy: what is awaited may take longer than the second that is usual.
    expect: { poll: { timeout: 15_000 } },
  },
})
