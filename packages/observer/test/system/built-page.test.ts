import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { pageDirectory } from '@meup/observer'
import { builtInRules } from '@meup/safety'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(new URL(path.replace(/^\//, ''), pageDirectory), 'utf8')
const html = read('index.html')
const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)

test('the page comes from its own gateway alone, and has nothing written into it', () => {
  expect(assets.length).toBeGreaterThan(1)
  expect(assets.filter((path) => !path.startsWith('/assets/'))).toEqual([])
  expect(html).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/)
})

/** Compressed bytes of the page's initial files with this ending. */
const weigh = (ending: string): number =>
  assets.filter((path) => path.endsWith(ending)).reduce((sum, path) => sum + gzipSync(read(path)).length, 0)

test('what the page begins with is at most 110 KB of scripts and 9 KB of styles', () => {
  expect(weigh('.js')).toBeLessThanOrEqual(110_000)
  expect(weigh('.css')).toBeLessThanOrEqual(9000)
})

test('the rules about secrets do not come along', () => {
  const script = assets
    .filter((path) => path.endsWith('.js'))
    .map(read)
    .join('\n')
  expect(script.length).toBeGreaterThan(10_000)
  const names = builtInRules.map(({ name }) => name).filter((name) => name.length > 12)
  expect(names.filter((name) => script.includes(name))).toEqual([])
})
