import { expect, test } from 'vitest'
import { oneAtATime } from '../src/run/reload.js'

/** A task whose runs end when they are told to. */
function stepped() {
  const ends: (() => void)[] = []
  const tasks = oneAtATime(() => new Promise((resolve) => ends.push(resolve)))
  const finish = async (): Promise<void> => {
    ends.at(-1)?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { ...tasks, finish, runs: () => ends.length }
}

test('runs at once when asked, and again when asked later', async () => {
  const { ask, finish, runs } = stepped()
  ask()
  expect(runs()).toBe(1)
  await finish()
  expect(runs()).toBe(1)
  ask()
  expect(runs()).toBe(2)
})

test('whoever asks while it runs is answered by one more run', async () => {
  const { ask, finish, runs } = stepped()
  for (let i = 0; i < 5; i++) ask()
  expect(runs()).toBe(1)
  await finish()
  expect(runs()).toBe(2)
  await finish()
  expect(runs()).toBe(2)
})

test('stopping waits for the present run and begins no other', async () => {
  const { ask, stop, finish, runs } = stepped()
  ask()
  ask()
  let stopped = false
  const stopping = stop().then(() => {
    stopped = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(stopped).toBe(false)
  await finish()
  await stopping
  ask()
  expect(runs()).toBe(1)
})
