import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest. They start first, so that none of them runs alone at the end. */
const slow = [
  'packages/cli/test/system/written-commands',
  ...[
    'model-agent',
    'up',
    'ended-programs',
    'commands',
    'page-entrance',
    'page-barriers',
    'deploy-review',
  ].map((name) => `test/scenarios/${name}`),
  ...['ended-programs', 'nats-gateways', 'secrets'].map((name) => `test/faults/${name}`),
  ...[
    'add-server',
    'detached',
    'mcp-serve',
    'memory-page',
    'newcomer',
    'page-stream',
    'terminal-commands',
    'terminal-screens',
    'terminal-states',
  ].map((name) => `test/scenarios/${name}`),
  ...['habits', 'lifecycle', 'permissions', 'traps'].map((name) => `packages/acp/test/${name}`),
  ...['model/capture', 'model/habits', 'model/strangers', 'model/toolbox'].map(
    (name) => `packages/agent-sdk/test/${name}`,
  ),
  ...['up-programs', 'watched-programs'].map((name) => `packages/cli/test/${name}`),
  ...['erasing', 'index-equal', 'silent-reading'].map((name) => `packages/gateway/test/${name}`),
  ...['serve-errors', 'serve-offers', 'server-habits'].map((name) => `packages/mcp-bridge/test/${name}`),
  'packages/safety/test/rules',
  'packages/folds/test/many',
  'test/conformance/client-kit',
].map((path) => `/${path}.test.ts`)

const isSlow = ({ moduleId }: TestSpecification): boolean => slow.some((path) => moduleId.endsWith(path))

/**
 * Starts slow files first. Vitest itself only knows the durations of earlier runs on the same machine, which CI does not have.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter(isSlow), ...sorted.filter((each) => !isSlow(each))]
  }
}
