import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CommandRunner } from '../src/join/command-runner.js'
import { folderWith } from './support/folder.js'

/** Runs `/always` on a proposed refund; `choices`: indexes that the user chooses. */
async function allow(words: string, choices: number[] = []) {
  const granted: unknown[] = []
  const offered: string[][] = []
  const proposal = { id: 'p1', source: { from: 'clerk' } }
  const args = { order: 'A-17', euros: 42, fast: true, more: { deep: 1 } }
  const request = {
    to: ['till'],
    payload: { method: 'tools/call', params: { name: 'refund', arguments: args } },
  }
  const runner = new CommandRunner({
    flags: {
      url: 'http://127.0.0.1:1',
      space: 'demo',
      tokenFile: join(folderWith({ token: 'x'.repeat(20) }), 'token'),
    },
    view: {
      lines: {},
      notify: () => {},
      ask: async (_: string, named: string[]) => {
        offered.push(named)
        return choices.shift()
      },
    },
    pending: {
      list: () => [proposal],
      offer: () => ({ proposal, since: 1 }),
      isShown: () => true,
      request: () => request,
    },
    space: {
      proposals: {
        list: () => [proposal],
        get: () => request,
        allowAlways: async (_: string, options: { arguments?: unknown }) => {
          granted.push(options.arguments)
          return { id: 'g', recipient: 'clerk', capabilities: [] }
        },
      },
    },
  } as never)
  await runner.runCommand('/always', words)
  return { granted, offered: offered[0] }
}

test('each argument that is a text, a number or a switch can be what is allowed', async () => {
  const { granted, offered } = await allow('p1', [1, 0])
  expect(offered).toEqual([
    'only where order is A-17',
    'only where euros is 42',
    'only where fast is true',
    'with any arguments',
  ])
  expect(granted).toEqual([{ euros: 42 }])
  expect((await allow('p1', [0, 0])).granted).toEqual([{ order: 'A-17' }])
  expect((await allow('p1', [3, 0])).granted).toEqual([undefined])
})

test('what is typed is a number where the proposed argument is one', async () => {
  const { granted } = await allow('p1 euros=50 order=A-* fast=false')
  expect(granted).toEqual([{ euros: 50, order: 'A-*', fast: false }])
  expect((await allow('p1 euros=many')).granted).toEqual([{ euros: 'many' }])
})

test('without a proposal that waits, /always says so', async () => {
  const printed: string[] = []
  const runner = new CommandRunner({
    flags: {
      url: 'http://127.0.0.1:1',
      space: 'demo',
      tokenFile: join(folderWith({ token: 'x'.repeat(20) }), 'token'),
    },
    ...{ view: { print: (lines: string[]) => printed.push(...lines) } },
    pending: { list: () => [], offer: () => undefined, lines: () => ['no proposal waits for a decision'] },
    space: { proposals: {} },
  } as never)
  await runner.runCommand('/always', '')
  expect(printed).toEqual(['no proposal waits for a decision'])
})
