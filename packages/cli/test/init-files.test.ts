import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  agentFile,
  findPackages,
  packageJson,
  proposeNames,
  spaceYaml,
  validateNames,
} from '../src/operator/init.js'
import { configIn } from './support/folder.js'

const names = { space: 'demo', person: 'ana', agent: 'reviewer', listen: '127.0.0.1:0' }

test('the agent is the one of the README', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  expect(/^```ts\n([\s\S]*?)^```$/m.exec(readme)?.[1]).toBe(agentFile)
})

describe('the space', () => {
  test.for(['ana', 'null', '123', '1e3', 'Yes', 'a.b_c-d'])('is right for %j', (person) => {
    const { config } = configIn('/srv', spaceYaml({ ...names, person }))
    expect(Object.keys(config.spaces[0]?.config.participants ?? {})).toEqual(
      expect.arrayContaining([person, 'reviewer', 'files']),
    )
  })

  test.for([
    [{ person: 'reviewer' }, 'different names'],
    [{ agent: 'files' }, 'different names'],
    [{ space: 'Not a name' }, 'space: must be a name'],
    [{ person: 'a b' }, 'must be an id'],
    [{ listen: 'nowhere' }, 'gateway.listen: must be HOST:PORT'],
  ] as const)('is refused with %j', ([wrong, word]) => {
    expect(validateNames({ ...names, ...wrong })).toContain(word)
  })

  test('is named by its folder, and listens where nobody else does', async () => {
    const usual = await proposeNames('/home/ana/My Project (2)')
    expect(usual).toMatchObject({
      space: 'my-project-2',
      listen: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    })
    expect(validateNames(usual)).toBeUndefined()
  })
})

test('what is in no registry is linked, everything else has its version', () => {
  const { dependencies } = JSON.parse(packageJson('demo', findPackages()))
  expect(dependencies).toMatchObject({
    meup: expect.stringMatching(/^link:.*packages\/cli$/),
    '@meup/agent-sdk': expect.stringMatching(/^link:.*packages\/agent-sdk$/),
    tsx: expect.stringMatching(/^\d+\.\d+\.\d+$/),
  })
})
