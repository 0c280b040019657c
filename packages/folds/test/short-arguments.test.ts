import { shortenArguments } from '@meup/folds'
import { expect, test } from 'vitest'

const diff = { path: 'a.txt', oldText: '', newText: 'x' }

test.for<[args: unknown, shown: string | undefined]>([
  [{ command: 'npm test' }, '$ npm test'],
  [{ command: 'npm test', description: 'Runs tests', cwd: '/repo', timeout: 5 }, '$ npm test'],
  [{ diffs: [diff] }, 'a.txt'],
  [{ filepath: 'a.txt', diffs: [diff, { ...diff, path: 'b.txt' }] }, 'a.txt, b.txt'],
  [{ command: 'rm', target: 'x' }, undefined],
  [{ command: 'deploy', choice: 'Staging' }, undefined],
  [{ command: ['npm', 'test'] }, undefined],
  [{ diffs: [] }, undefined],
  [{ diffs: [diff, null] }, undefined],
  [{ diffs: 'a.txt' }, undefined],
  ['npm test', undefined],
  [null, undefined],
])('%j is %j', ([args, shown]) => {
  expect(shortenArguments(args)).toBe(shown)
})
