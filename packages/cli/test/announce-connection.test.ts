import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { announceConnection } from '../src/lib/connection.js'

test.each([
  ['once', ' · Enter tries at once', 1],
  ['once for each reason where no footer shows the latest,', undefined, 2],
])('an outage is announced %s however often it is tried again', (_, hint, count) => {
  const [space, lines]: [EventEmitter, string[]] = [new EventEmitter(), []]
  const connection = announceConnection(space as never, (line) => lines.push(line), hint)
  expect(connection.isOpen).toBe(true)
  const refused = 'no gateway answers at http://127.0.0.1:8080: connection refused'
  for (const reason of ['the gateway is stopping', refused, refused, refused])
    space.emit('reconnecting', 300, reason)
  expect(connection.isOpen).toBe(false)
  space.emit('connected')
  expect(connection.isOpen).toBe(true)
  space.emit('reconnecting', 300, refused)
  expect(lines).toEqual([
    ...['the gateway is stopping', refused]
      .slice(0, count)
      .map((reason) => `… ${reason}; trying again${hint ?? ''}`),
    '… connected again',
    `… ${refused}; trying again${hint ?? ''}`,
  ])
})
