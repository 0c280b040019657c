import { Layout, SpaceModel } from '@meup/observer/model'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Script } from './support.js'

const heights = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 3000 })
const makeRows = (each: readonly number[]) => each.map((height) => ({ height }))

test('a layout finds the row at every pixel', () => {
  fc.assert(
    fc.property(heights, fc.nat(), (each, somewhere) => {
      const layout = new Layout()
      layout.update(makeRows(each))
      const total = each.reduce((sum, height) => sum + height, 0)
      expect(layout.height).toBe(total)
      const offset = somewhere % total
      const index = layout.indexAt(offset)
      expect(layout.getTop(index)).toBeLessThanOrEqual(offset)
      expect(layout.getTop(index + 1)).toBeGreaterThan(offset)
    }),
  )
})

test('a layout that is updated from where it changed is the same as a new one', () => {
  fc.assert(
    fc.property(heights, heights, fc.nat(), (one, other, somewhere) => {
      const from = somewhere % one.length
      const next = [...one.slice(0, from), ...other]
      const [updated, fresh] = [new Layout(), new Layout()]
      updated.update(makeRows(one))
      updated.update(makeRows(next), from)
      fresh.update(makeRows(next))
      expect(next.map((_, index) => updated.getTop(index))).toEqual(
        next.map((_, index) => fresh.getTop(index)),
      )
      expect(updated.height).toBe(fresh.height)
    }),
  )
})

test('only the rows near the view are drawn', () => {
  const layout = new Layout()
  layout.update(Array.from({ length: 1000 }, () => ({ height: 20 })))
  expect(layout.near(10_000, 400, 100)).toEqual({ start: 495, end: 526 })
  expect(layout.near(0, 400, 100)).toEqual({ start: 0, end: 26 })
  expect(layout.near(19_600, 400, 100)).toEqual({ start: 975, end: 1000 })
})

test('an empty layout has no rows', () => {
  expect(new Layout().near(0, 400, 100)).toEqual({ start: 0, end: 0 })
})

test('a height that was measured stays with its row when others come before it', () => {
  const script = new Script()
  for (let count = 0; count < 4; count++) script.chat('ana', `message ${count}`)
  const model = new SpaceModel()
  model.append(script.envelopes.slice(2), 0)
  const { stream } = model.lists
  expect(stream.slots).toHaveLength(2)
  stream.setHeight(1, 333)
  void stream.slots
  expect(stream.layout.height).toBe(stream.layout.getTop(1) + 333)
  model.merge(script.envelopes.slice(0, 2))
  expect(stream.slots.map(({ height }) => height).at(-1)).toBe(333)
  expect(stream.layout.getTop(4) - stream.layout.getTop(3)).toBe(333)
})
