import { everything, type ReaderFilter, type SpaceModel } from '@meup/observer/model'
import { describe, expect, test } from 'vitest'
import { gists, Script } from './support.js'

function space(): { readonly script: Script; readonly model: SpaceModel; readonly run: string } {
  const script = new Script()
  script.presence('join', 'eve')
  script.chat('ana', 'good morning')
  const run = script.start('bot', 'Looking')
  script.thought('bot', run.id, 'tests matter')
  const nested = script.start('bot', 'Deeper', { context: run.id })
  script.thought('eve', `${run.id}/${nested.id}`, 'an aside')
  script.answer(script.call('bot', run.id, 'lint'), 'fine')
  script.propose('bot', run.id, 'release')
  script.start('eve', 'Mine')
  return { script, model: script.read(), run: run.id }
}

const shown = (model: SpaceModel, filter: Partial<ReaderFilter>): string[] => {
  model.filter({ ...everything, ...filter })
  model.chooseAll('all')
  return gists(model)
}

describe('a filter', () => {
  test('shows one participant alone, and what waits for a decision in any case', () => {
    const { model } = space()
    expect(shown(model, { from: ['eve'] })).toEqual([
      'event eve is here',
      'bot thinks [all] Looking',
      '    thought an aside',
      '  release open',
      'eve thinks [all] Mine',
    ])
  })

  test('shows some sorts of lines alone', () => {
    const { model } = space()
    expect(shown(model, { sorts: ['chat'] })).toEqual([
      'ana: good morning',
      'bot thinks [all] Looking',
      '  release open',
    ])
    expect(shown(model, { sorts: ['tools', 'events'] })).toEqual([
      'event eve is here',
      'bot thinks [all] Looking',
      '  lint success',
      '  release open',
    ])
  })

  test('shows one context and what is below it alone, whether anything is in it or not', () => {
    const { model, run } = space()
    const all = shown(model, { context: run })
    expect(all[0]).toBe('bot thinks [all] Looking')
    expect(all).not.toContain('eve thinks [all] Mine')
    const nested = model.log.envelopes.find(({ payload }) => payload.message === 'Deeper')
    expect(shown(model, { context: `${run}/${nested?.id}` })).toEqual([
      'bot thinks [all] Looking',
      '  bot thinks [all] Deeper',
      '    thought an aside',
      '  release open',
    ])
    expect(model.logFilter.dropped).toBe(model.log.envelopes.length - 2)
  })

  test('goes on with what comes, and ends', () => {
    const { script, model } = space()
    const whole = shown(model, {})
    shown(model, { from: ['ana'] })
    const dropped = model.logFilter.dropped
    script.chat('eve', 'unseen')
    script.chat('ana', 'seen')
    model.append(script.envelopes, 0)
    expect(gists(model).at(-1)).toBe('ana: seen')
    expect(gists(model)).not.toContain('eve: unseen')
    expect(model.logFilter.dropped).toBe(dropped + 1)
    expect(shown(model, {})).toEqual([...whole, 'eve: unseen', 'ana: seen'])
    expect(model.logFilter.dropped).toBe(0)
  })
})
