import { expect, test } from 'vitest'
import { explainDriver } from '../src/log/sqlite-driver.js'

const otherVersion = new Error(
  'was compiled against NODE_MODULE_VERSION 115. This requires NODE_MODULE_VERSION 137.',
)

test.for<[place: string | undefined, advice: string]>([
  ['/srv/a/node_modules/better-sqlite3/lib/index.js', 'Run npm rebuild better-sqlite3.'],
  [undefined, 'Run npm rebuild better-sqlite3.'],
  [
    '/home/ana/meup/node_modules/.pnpm/better-sqlite3@12.0.0/node_modules/better-sqlite3/lib/index.js',
    'Run pnpm install in /home/ana/meup.',
  ],
])('after a change of Node, the advice is for the folder that has the package: %s', ([place, advice]) => {
  const { code, message } = explainDriver(otherVersion, place)
  expect(code).toBe('driver')
  expect(message).toContain(`which was built for another version of Node. ${advice} Or `)
})
