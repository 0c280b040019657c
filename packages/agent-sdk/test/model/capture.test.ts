import { describe, expect } from 'vitest'
import { verifies } from '../../../../test/verifies.js'
import { adding, answering, stage, storyOf } from './stage.js'

const script = [[{ reasoning: 'I add them.' }, ...adding({ a: 2, b: 3 })], answering('5')]
const provider = 'openai.responses'
const acting = ['chat', 'mcp.request']

describe('an agent answers', () => {
  verifies('I12', 'though it may not reason aloud', async () => {
    await using here = await stage(script, { provider, capabilities: acting })
    expect(await here.ask()).toBe('5')
    expect(storyOf(here.heard)).toEqual(['mcp.request add: I add them.', 'chat: 5'])
    expect(here.troubles).toMatchObject([{ code: 'capability_violation' }])
  })

  verifies('I12', 'though its thoughts and its conclusion are refused', async () => {
    await using here = await stage(script, { provider, capabilities: [...acting, 'reasoning.start'] })
    expect(await here.ask()).toBe('5')
    expect(storyOf(here.heard).slice(0, 3)).toEqual([
      'reasoning.start',
      'mcp.request add: I add them.',
      'chat: 5',
    ])
    for (const trouble of here.troubles) expect(trouble).toMatchObject({ code: 'capability_violation' })
    expect(here.troubles.length).toBeGreaterThanOrEqual(2)
  })

  verifies('I12', 'that it cannot, though the end of its run is refused', async () => {
    const failing = [[{ reasoning: 'Hm.' }, { error: { message: 'Overloaded' } }]]
    await using here = await stage(failing, { provider, capabilities: [...acting, 'reasoning.start'] })
    expect(await here.ask()).toBe('I could not answer: Overloaded')
  })
})
