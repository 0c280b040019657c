import { expect } from 'vitest'
import { onPage } from '../support/page.js'
import { verifies } from '../verifies.js'

verifies(
  'O01',
  'a run has an entry while it is active: who runs it, since when, whether it is shown, and when it ends without its owner',
  onPage(async ({ gateway, page, enter }) => {
    await enter()
    const planner = await gateway.enter('planner')
    const run = await planner.reason('Looking')
    const entries = async () => {
      const late = await gateway.enter('eve')
      const { contexts } = late.welcome
      await late.close()
      return contexts
    }
    const startedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    const entry = { context: run.context, owner: 'planner', state: 'open', startedAt }
    expect(await entries()).toEqual([{ ...entry, reasoningVisible: true }])
    const ana = await gateway.enter('ana')
    const toggle = (reasoningVisible: boolean) =>
      ana.send({ kind: 'observe.visibility', payload: { context: run.context, reasoningVisible } })
    await toggle(false)
    expect(await entries()).toMatchObject([{ ...entry, reasoningVisible: false }])
    await toggle(true)

    await planner.close()
    await page.shows(/left, and is stopped at \d\d:\d\d unless planner returns/)
    const again = await gateway.enter('planner')
    await page.hides('unless planner returns')
    await again.send({ kind: 'reasoning.conclusion', context: run.context, payload: { message: 'done' } })
    await page.shows('Thought')
    expect(await entries()).toEqual([])
    await expect(toggle(false)).rejects.toMatchObject({ code: 'run_not_active' })
  }),
  { timeout: 60_000 },
)
