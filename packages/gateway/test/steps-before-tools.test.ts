import { verifies } from '../../../test/verifies.js'
import { calls, findThoughtsInTime } from './steps-before-tools.js'
import { stores } from './turns.js'

for (const kind of ['memory', 'SQLite'] as const) {
  verifies(
    'A11',
    `a tool that gets its request finds in the audit what was thought before, ${calls} times of ${calls}: ${kind}`,
    async () => findThoughtsInTime(await stores[kind]()),
  )
}
