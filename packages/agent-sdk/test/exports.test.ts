import { readFileSync } from 'node:fs'
import * as main from '@meup/agent-sdk'
import { expect, test } from 'vitest'
import { listExports } from '../../../scripts/list-exports.js'

const index = readFileSync(new URL('../src/index.ts', import.meta.url), 'utf8')

test('the main entry has at most 60 exports, types included, each in one group', () => {
  const groups = listExports(index)
  expect(groups.map(({ name }) => name)).toEqual([
    'Connect',
    'Turns and reasoning',
    'Tools',
    'Models',
    "People's decisions",
    'Errors',
  ])
  const names = groups.flatMap(({ exports }) => exports)
  expect(new Set(names).size).toBe(names.length)
  expect(names).toEqual(expect.arrayContaining(Object.keys(main)))
  expect(names.length).toBeLessThanOrEqual(60)
})

test('what is a value of the main entry is one in browsers, too', async () => {
  const browser = '../src/browser.js'
  expect(Object.keys(await import(browser)).sort()).toEqual(Object.keys(main).sort())
})
