import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const built = (path: string): string => JSON.stringify(new URL(`../../dist/${path}`, import.meta.url).href)

/** Runs in its own process: the hidden classes of objects depend on all objects created before. */
const program = `
import { storable } from ${built('storage/sqlite/rows.js')}
import { createDraftEntry } from ${built('log/entries.js')}
import { parseEnvelope } from ${built('log/entries.js')}
const drafts = Array.from({ length: 100 }, (_, index) => {
  const id = 'e' + index
  const body = Buffer.from(JSON.stringify({ protocol: 'meup/1', id, kind: 'chat', payload: { text: id } }))
  return createDraftEntry([index + 1, id, '', 'ana', 'chat', undefined, undefined, undefined], body, body)
})
const others = [storable, parseEnvelope].map((make) => {
  const made = drafts.map((draft) => make(draft))
  return made.slice(1).filter((each, index) => !%HaveSameMap(each, made[index])).length
})
console.log(JSON.stringify(others))
`

/**
 * If each envelope had its own hidden class, the classes would outlive the envelopes, and memory would grow until a full
 * collection.
 */
test('an envelope on its way into the log, or read from it, has the shape of the one before', () => {
  const args = ['--allow-natives-syntax', '--input-type=module', '-e', program]
  expect(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))).toEqual([0, 0])
})
