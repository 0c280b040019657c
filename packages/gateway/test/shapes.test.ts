import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { storable } from '../src/adapters/sqlite/columns.js'
import { draftOf } from '../src/log/fields.js'
import { envelopeOf } from '../src/space/replay.js'

setFlagsFromString('--allow-natives-syntax')
const haveOneShape = runInNewContext('(one, other) => %HaveSameMap(one, other)') as (
  one: object,
  other: object,
) => boolean

const drafts = Array.from({ length: 100 }, (_, index) => {
  const id = `e${index}`
  const body = Buffer.from(JSON.stringify({ protocol: 'meup/1', id, kind: 'chat', payload: { text: id } }))
  return draftOf([index + 1, id, '', 'ana', 'chat', undefined, undefined, undefined], body, body)
})

/** A shape of its own for each would outlive it: memory grows until all of the heap is collected. */
test.each([
  ['an envelope on its way into the log', storable],
  ['an envelope that was read from the log', envelopeOf],
] as const)('%s has the shape of the one before', (_, make) => {
  const made = drafts.map((draft) => make(draft))
  const others = made.slice(1).filter((each, index) => !haveOneShape(each, made[index] ?? each))
  expect(others).toEqual([])
})
