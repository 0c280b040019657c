import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { applyMutant } from '../mutants/apply.js'
import { mutants } from '../mutants/table.js'
import { repositoryRoot } from '../support/files.js'

test('there are 80 wrong edits or more, each with one place in the sources', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(80)
  expect(new Set(mutants.map((mutant) => JSON.stringify(applyMutant(mutant)))).size).toBe(mutants.length)
})

test('each names a file of the fast or the integration suite', () => {
  const named = mutants.flatMap(({ tests }) => tests)
  expect(named.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([])
  expect(
    named.filter((path) => /^test\/(bench|faults|nightly|scenarios)|\/test\/(system|nightly)\//.test(path)),
  ).toEqual([])
})
