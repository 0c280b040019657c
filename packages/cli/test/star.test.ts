import { expect, test } from 'vitest'
import { describeStar } from '../src/lib/capabilities.js'
import { configIn } from './support/folder.js'

const describeIn = (capabilities: string): string[] =>
  describeStar(
    configIn(
      '/space',
      `version: 1\nspace: demo\nparticipants:\n  ana: { kind: human, capabilities: ${capabilities} }\n`,
    ).config,
  )

test('what "*" leaves out is said to whoever has it', () => {
  expect(describeIn('["*"]')).toEqual([
    '"*" of ana leaves out observe.targeted (read what is addressed to others), space.erase (erase what was said); list what it is to have, too',
  ])
  expect(describeIn('["*", observe.targeted]')).toEqual([
    '"*" of ana leaves out space.erase (erase what was said); list what it is to have, too',
  ])
  expect(describeIn('["*", observe.targeted, space.erase]')).toEqual([])
  expect(describeIn('[chat]')).toEqual([])
})
