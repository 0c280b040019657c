import { verifies } from '../../../../test/verifies.js'
import { calls, findThoughtsInTime } from '../../../gateway/test/steps-before-tools.js'
import { openNats, withNats } from '../nats.js'

verifies(
  'A11',
  `a tool that gets its request finds in the audit what was thought before, ${calls} times of ${calls}: JetStream`,
  withNats(async () => {
    const { store } = await openNats()
    await findThoughtsInTime(await store())
  }),
)
