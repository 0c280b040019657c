import { createTestSpace } from '@meup/agent-sdk/testing'
import { describe, expect, test } from 'vitest'
import { others, plantedErrors } from './planted-errors.js'
import { participants, play } from './script.js'

/** Maximum part of the space's steps that `why` returns. */
const maxShare = 0.35

describe('why of a wrong answer has the step with the mistake, and not much else', () => {
  test.each(plantedErrors)('$name', async ({ lines, planted }) => {
    await using space = await createTestSpace({ participants })
    const sent = await play(space, [lines, ...others])
    const reader = await space.join('ana')
    const { steps } = await reader.why('answer', { limit: Math.floor(maxShare * sent) })
    expect(steps.map(({ id }) => id)).toContain(planted)
    expect(steps.length).toBeLessThanOrEqual(maxShare * sent)
    expect(steps.filter(({ id }) => /^[xy]-/.test(id))).toEqual([])
  })
})
