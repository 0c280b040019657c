import { expect, test } from 'vitest'
import { createSerialTask } from '../src/run/reload.js'

/** A task whose runs end when the test says so. */
function stepped() {
  const ends: (() => void)[] = []
  const tasks = createSerialTask(() => new Promise((resolve) => ends.push(resolve)))
  const finish = async (): Promise<void> => {
    ends.at(-1)?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { ...tasks, finish, runs: () => ends.length }
}

test('runs at once when asked, and again when asked later', async () => {
  const { request, finish, runs } = stepped()
  request()
  expect(runs()).toBe(1)
  await finish()
  expect(runs()).toBe(1)
  request()
  expect(runs()).toBe(2)
})

test('whoever asks while it runs is answered by one more run', async () => {
  const { request, finish, runs } = stepped()
  for (let i = 0; i < 5; i++) request()
  expect(runs()).toBe(1)
  await finish()
  expect(runs()).toBe(2)
  await finish()
  expect(runs()).toBe(2)
})

test('stopping waits for the present run and begins no other', async () => {
  const { request, stop, finish, runs } = stepped()
  request()
  request()
  let stopped = false
  const stopping = stop().then(() => {
    stopped = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(stopped).toBe(false)
  await finish()
  await stopping
  request()
  expect(runs()).toBe(1)
})
