import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { announceConnection } from '../src/lib/connection.js'

test('an outage is announced once for each reason, however often it is tried again', () => {
  const [space, lines]: [EventEmitter, string[]] = [new EventEmitter(), []]
  const connection = announceConnection(space as never, (line) => lines.push(line), ' · Enter tries at once')
  expect(connection.isOpen).toBe(true)
  const refused = 'no gateway answers at http://127.0.0.1:8080: connection refused'
  for (const reason of ['the gateway is stopping', refused, refused, refused])
    space.emit('reconnecting', 300, reason)
  expect(connection.isOpen).toBe(false)
  space.emit('connected')
  expect(connection.isOpen).toBe(true)
  space.emit('reconnecting', 300, refused)
  expect(lines).toEqual([
    '… the gateway is stopping; trying again · Enter tries at once',
    `… ${refused}; trying again · Enter tries at once`,
    '… connected again',
    `… ${refused}; trying again · Enter tries at once`,
  ])
})
