import { describe, expect, test } from 'vitest'
import { deriveNames, spaceTemplate } from '../src/operator/space-file.js'
import { configIn } from './support/folder.js'

test.for([
  ['/home/ana/My Project (2)', 'my-project-2'],
  ['/srv/...', 'demo'],
  ['/', 'demo'],
  [`/srv/${'x'.repeat(100)}`, 'x'.repeat(63)],
  ['/srv/123', '123'],
])('the space in %j is named %j', ([folder, space]) => {
  expect(deriveNames(folder ?? '', 'ana').space).toBe(space)
})

test.for([
  ['ana', 'ana'],
  ['DOMAIN\\ana b', 'DOMAIN-ana-b'],
  ['_www', 'www'],
  ['-', 'operator'],
  ['', 'operator'],
  ['root', 'operator'],
  ['root', 'operator'],
  ['x'.repeat(100), 'x'.repeat(64)],
])('whoever logs in as %j is %j', ([login, human]) => {
  expect(deriveNames('/srv/demo', login).human).toBe(human)
})

describe('the file', () => {
  test.for(['ana', 'helper', 'null', 'true', '123', '1e3', '0x1F', 'Yes', 'a.b_c-d'])(
    'is right for %j',
    (login) => {
      const names = deriveNames(`/srv/${login}`, login)
      const { config } = configIn('/srv', spaceTemplate(names))
      expect(config.spaces[0]?.config.name).toBe(names.space)
      expect(config.spaces[0]?.config.participants).toEqual({
        [names.human]: { kind: 'human', capabilities: ['*'] },
        [names.agent]: {
          kind: 'agent',
          capabilities: ['chat', 'reasoning.*', { tool: `${names.agent}/*` }],
        },
      })
    },
  )
})
