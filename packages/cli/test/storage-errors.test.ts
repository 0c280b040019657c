import { expect, test } from 'vitest'
import { ConfigError } from '../src/config/config-error.js'
import { parseConfig } from '../src/config/load.js'

/** Lines of the error message for a text on line 3, without the file name. */
function inSpace(text: string): string[] {
  try {
    parseConfig(`version: 1\nspace: demo\n${text}`, { file: 'space.yaml', env: {} })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n').map((line) => line.replace(/^space\.yaml:/, ''))
  }
  return []
}

test.for([
  ['kind: postgres', '3:18 storage.kind: must be memory, sqlite or jetstream'],
  [
    'kind: jetstream, replicas: 1',
    '3:10 storage.servers: is missing; it must be a list of one address or more',
  ],
  ['kind: jetstream, servers: []', '3:38 storage.servers: must be a list of one address or more'],
  [
    'kind: jetstream, servers: ["http://a:4222"]',
    '3:39 storage.servers.0: must be an address such as nats://127.0.0.1:4222; credentials belong in a file',
  ],
  [
    'kind: jetstream, servers: ["nats://me:secret@a:4222"]',
    /servers\.0: must be an address such as .*; credentials belong in a file$/,
  ],
  ['kind: jetstream, servers: ["nats://a"], replicas: 2', /storage\.replicas: must be 1, 3 or 5$/],
  ['kind: jetstream, servers: ["nats://a"], durability: power', /storage\.durability: is not known here/],
] as const)('storage: { %s }', ([keys, expected]) => {
  expect(inSpace(`storage: { ${keys} }`)).toEqual([
    typeof expected === 'string' ? expected : expect.stringMatching(expected),
  ])
})
