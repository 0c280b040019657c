import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { SpaceState } from '../src/core/state/state.js'

const read = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'snapshots', name))

/** The contents of a state, without fields with these names. */
const factsOf = (state: SpaceState, omitted: readonly string[] = []): object =>
  JSON.parse(Buffer.from(state.toSnapshot()).toString(), (name, value) =>
    omitted.includes(name) ? undefined : value,
  )

const newInLaterFormats = ['session', 'living', 'replaced']
/** The formats that earlier versions wrote, from `oldestVersion` on, with the fields that each lacks. */
const formats = {
  8: [...newInLaterFormats, 'configurations', 'triggers', 'lastAt', 'ended', 'program', 'ref', 'method'],
  10: [...newInLaterFormats, 'method'],
  11: ['method'],
}

test.each(Object.entries(formats))(
  'a snapshot of format %s, as it was written, is the state of its log',
  (format, fields) => {
    const whole = new SpaceState()
    for (const line of read('log.jsonl').toString().trim().split('\n'))
      whole.apply(JSON.parse(line) as Envelope, Buffer.from(line))
    const state = SpaceState.from(read(`format-${format}.snapshot`))
    expect(factsOf(state, fields)).toEqual(factsOf(whole, fields))
  },
)
