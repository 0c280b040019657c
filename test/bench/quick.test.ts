import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readCommandLine } from '../../bench/load/options.js'
import { compareRatio, machineClass, measureAndCompare } from '../../bench/quick/compare.js'
import { quick } from '../../bench/quick/index.js'
import { circumstances } from '../../bench/report/write.js'

test('a ratio that is more than 15 % lower has fallen, a higher one never', () => {
  expect(compareRatio([0.84], 1)).toMatchObject({ ratio: 0.84, hasFallen: true })
  expect(compareRatio([0.86], 1).hasFallen).toBe(false)
  expect(compareRatio([3], 1).hasFallen).toBe(false)
  expect(compareRatio([Number.NaN], 1).hasFallen).toBe(true)
})

test('one noisy round changes nothing: the median counts', () => {
  expect(compareRatio([1, 0.2, 1.1, 0.98, 1.02], 1)).toMatchObject({ ratio: 1, hasFallen: false })
  expect(compareRatio([0.7, 0.71, 5, 0.69, 0.7], 1)).toMatchObject({ ratio: 0.7, hasFallen: true })
})

test('a fall is measured twice, and both measurements count', async () => {
  const measure = vi.fn<() => Promise<number[]>>()
  measure.mockResolvedValueOnce([0.5, 0.6, 0.5]).mockResolvedValueOnce([1, 0.99, 1.01, 1])
  expect(await measureAndCompare(measure, 1)).toMatchObject({ ratio: 0.99, hasFallen: false })
  measure.mockReset().mockResolvedValue([0.5, 0.6, 0.5])
  expect(await measureAndCompare(measure, 1)).toMatchObject({ hasFallen: true })
  measure.mockClear()
  expect(await measureAndCompare(measure, undefined)).toMatchObject({ ratio: 0.5, hasFallen: false })
  expect(measure).toHaveBeenCalledOnce()
})

test('a class is cores, processor and the major version of Node.js', () => {
  const one = { processor: 'Xeon', cores: 2, node: 'v20.19.0' }
  expect(machineClass({ ...one, node: 'v20.20.2' })).toBe(machineClass(one))
  for (const other of [{ cores: 4 }, { processor: 'EPYC' }, { node: 'v22.1.0' }]) {
    expect(machineClass({ ...one, ...other })).not.toBe(machineClass(one))
  }
})

/** Runs `--quick` with one figure, and writes to a temporary page and folder. */
function stage() {
  const folder = mkdtempSync(join(tmpdir(), 'meup-quick-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const places = { folder, page: join(folder, 'performance.md') }
  writeFileSync(places.page, '<!-- figures: quick -->\n<!-- end of figures -->\n')
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const run = (ratio: number, { write = false, cores = 2, name = 'chats' } = {}) => {
    const { options } = readCommandLine(write ? ['--quick', '--write'] : ['--quick'])
    const about = { ...circumstances('nothing pinned', 'pnpm bench --quick'), cores }
    const measure = () => Promise.resolve([ratio])
    return quick([], options, about, {
      figures: { [name]: { about: 'of a test', reference: 'one', measure } },
      places,
    })
  }
  return { run, page: () => readFileSync(places.page, 'utf8'), said: () => log.mock.calls.flat().join('\n') }
}

test('without figures of this class nothing has fallen, and how to commit them is said', async () => {
  const { run, said } = stage()
  await run(1, { write: true, cores: 64 })
  expect(await run(0.001)).toEqual([])
  expect(said()).toContain('No figures are committed for this class of machine')
  expect(said()).toContain('pnpm bench --quick --write')
})

test('what was written is compared with, and other figures and classes stay', async () => {
  const { run, said, page } = stage()
  await run(0.4, { write: true, cores: 64 })
  await run(0.5, { write: true })
  await run(7, { write: true, name: 'guard' })
  expect(await run(0.45)).toEqual([])
  expect(await run(0.4)).toEqual(['chats'])
  expect(await run(0.4, { cores: 64 })).toEqual([])
  expect(said()).toContain('More than 15 % below the committed figures: chats')
  expect(await run(6, { name: 'guard' })).toEqual([])
  expect(page()).toContain('64 cores')
})
