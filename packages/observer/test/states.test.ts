import { SpaceModel } from '@meup/observer/model'
import { describe, expect, test } from 'vitest'
import { Script, welcome } from './support.js'

const program = (id: string, said: object | null) => ({
  from: 'system:gateway',
  kind: 'system.presence',
  payload: { event: 'update', participant: { id }, program: said },
})
const restarting = { state: 'restarting', count: 4 } as const

const stateOf = (model: SpaceModel, id: string): string => {
  const person = model.people.find((each) => each.id === id)
  return person === undefined ? 'unknown' : model.describeState(person, 0).text
}

describe('the state of a participant on the page', () => {
  test('is what the welcome says', () => {
    const model = new SpaceModel()
    const [, bot, eve] = welcome(['ana', 'bot', 'eve']).participants
    if (bot === undefined || eve === undefined) throw new Error('no participants')
    const participants = [
      { ...bot, program: restarting },
      { ...eve, status: 'away' as const, kicked: { by: 'ana', until: '2100-01-01T00:00:00.000Z' } },
    ]
    model.onWelcome({ ...welcome([]), participants }, 0)
    expect(stateOf(model, 'bot')).toBe('restarting (4×)')
    expect(stateOf(model, 'eve')).toBe('kicked by ana until 2100-01-01T00:00:00.000Z')
  })

  test('is that of a past moment in the past', () => {
    const script = new Script()
    script.presence('join', 'bot')
    script.say(program('bot', restarting))
    const then = script.read().checkpoint(undefined)
    script.say(program('bot', null))
    const model = script.read()
    expect(stateOf(model, 'bot')).toBe('here')
    model.restore(then)
    expect(stateOf(model, 'bot')).toBe('restarting (4×)')
  })
})

test('a program that fails has a line in the conversation, one that starts and runs has none', () => {
  const script = new Script()
  for (const said of [{ state: 'starting' }, { state: 'running' }, restarting, null])
    script.say(program('bot', said))
  const rows = script.read().lists.stream.rows.map((row) => ('text' in row ? row.text : row.type))
  expect(rows).toEqual(['bot is restarting (4×)'])
})
