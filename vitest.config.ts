import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { loadSources } from './test/support/load-sources.js'
import { reachesOutside } from './test/support/outside.js'
import { requirementsReporter, totalsReporter } from './test/support/reporter.js'
import { SlowFirst } from './test/support/slow-first.js'

const shared = {
  setupFiles: ['test/support/seed.ts'],
  // The machine may be busy: what is awaited may take longer than the second that is usual.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 30_000 } },
  // Files of one worker share their modules: loading them takes longer than most tests.
  isolate: false,
  // Modules that are built need no transformation.
  server: { deps: { external: [/\/dist\/.*\.js$/] } },
}

/** Benchmarks are tried beside other tests: no process of theirs needs a core of its own. */
const env = { MEUP_BENCH_PIN: '0' }

/** What needs built programs, a browser, a terminal or `nats-server`. */
const system = ['test/{bench,faults,scenarios}/**/*.test.ts', 'packages/*/test/system/**/*.test.ts']

/** What asserts how long something takes: run one after another, when the rest of the suite is done. */
const timed = [
  'packages/cli/test/system/completion-shells.test.ts',
  'packages/gateway/test/system/long-turn.test.ts',
  'packages/safety/test/system/*.test.ts',
  'test/scenarios/{live-answers,no-answer,page-find-many,thinking-fast,up-edited}.test.ts',
]

/** Long stories of which the system tests show each part, and what takes minutes: `pnpm test:nightly`. */
const nightly = ['{test,packages/*/test}/nightly/**/*.test.ts']

/** Packages as they are published, in folders of their own, with several versions of Node.js: `pnpm test:install`. */
const install = ['test/install/**/*.test.ts']

/** Public MCP servers and clients as npm has them: `pnpm test:servers`. */
const servers = ['test/servers/**/*.test.ts']

const files = ['protocol/test', 'test', ...readdirSync('packages').map((each) => `packages/${each}/test`)]
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => file.endsWith('.test.ts'))

/** Fuzz and endurance, which `pnpm test:soak` does at full counts; the other suites try a few. */
const soak = files.filter((file) => /support\/soak\.js'|from 'fast-check'/.test(readFileSync(file, 'utf8')))

/** What starts programs, opens sockets or writes to a disk; the fast suite is the rest. */
const integration = files.filter((file) => reachesOutside(file))

const others = [...system, ...nightly, ...install, ...servers]

const cores = availableParallelism()

const fast = {
  plugins: [loadSources()],
  test: { ...shared, globalSetup: 'test/support/generate.ts' },
}

export default defineConfig({
  test: {
    // Transformed modules are kept for the other suites and for the next run.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: SlowFirst },
    reporters: ['default', requirementsReporter, totalsReporter],
    // Many tests wait for a socket or a program more than they compute.
    maxWorkers: cores + 2,
    projects: [
      {
        ...fast,
        test: {
          ...fast.test,
          name: 'fast',
          include: files,
          exclude: [...integration, ...others],
        },
      },
      {
        ...fast,
        test: {
          ...fast.test,
          name: 'integration',
          include: integration,
          exclude: others,
          sequence: { groupOrder: 1 },
        },
      },
      // Programs, a browser and terminals keep the cores busy: a fourth worker makes the suite slower.
      { test: { ...shared, name: 'system', env, include: system, exclude: timed, maxWorkers: cores + 1 } },
      { test: { ...shared, name: 'timed', include: timed, maxWorkers: 1, sequence: { groupOrder: 1 } } },
      { test: { ...shared, name: 'nightly', env, include: nightly, exclude: soak } },
      { test: { ...shared, name: 'install', include: install } },
      { test: { ...shared, name: 'servers', include: servers, maxWorkers: 1 } },
      { test: { ...shared, name: 'soak', include: soak, testTimeout: 6 * 3_600_000 } },
    ],
  },
})
