import type { AnyEnvelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { Screen, type Surface } from '../src/view/screen.js'
import { envelope } from './support/turns.js'

const said = (seq: number, message: string): AnyEnvelope =>
  envelope(seq, 'chat', 'bot', { payload: { message } })

/** A screen on which an answer is followed by its reasoning, and what stands on it. */
function drawn() {
  const options = { showsThoughts: true }
  const lines: string[] = []
  const surface: Surface = {
    rows: 24,
    print: (more) => void lines.push(...more),
    clear: () => void lines.splice(0),
  }
  const screen = new Screen(surface, () => options.showsThoughts)
  return { screen, lines, options }
}

test('reasoning behind an answer is hidden and shown with thoughts', () => {
  const { screen, lines, options } = drawn()
  screen.show(said(1, 'answer'))
  screen.append(said(1, 'answer'), ['', '  ┄ Reasoning (turn 1)'])
  screen.show(said(2, 'thanks'))
  const all = ['bot: answer', '', '  ┄ Reasoning (turn 1)', 'bot: thanks']
  expect(lines).toEqual(all)
  options.showsThoughts = false
  screen.draw('hidden')
  expect(lines).toEqual(['bot: answer', 'bot: thanks', 'hidden'])
  options.showsThoughts = true
  screen.draw('visible')
  expect(lines).toEqual([...all, 'visible'])
})

test('reasoning that comes while thoughts are hidden is kept', () => {
  const { screen, lines, options } = drawn()
  options.showsThoughts = false
  screen.show(said(1, 'answer'))
  screen.append(said(1, 'answer'), ['why'])
  expect(lines).toEqual(['bot: answer'])
  options.showsThoughts = true
  screen.add([said(1, 'answer')])
  screen.draw('visible')
  expect(lines).toEqual(['bot: answer', 'why', 'visible'])
})
