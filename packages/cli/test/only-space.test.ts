import { join } from 'node:path'
import { Command } from 'commander'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type ConnectionFlags, withTarget } from '../src/lib/connection.js'
import { answering } from './support/answering.js'
import { folderWith } from './support/folder.js'

/** Runs a command with a gateway at which its token opens these spaces. Returns the space in the command's flags. */
async function choose(spaces: readonly string[], args: readonly string[] = [], environment: object = {}) {
  const { url } = await answering(({ pathname }) =>
    pathname === '/spaces' ? { body: { spaces } } : { status: 404, body: {} },
  )
  const tokenFile = join(folderWith({ token: 'a-token-of-ana\n' }), 'token')
  for (const [name, value] of Object.entries({ MEUP_SPACE: undefined, MEUP_URL: url, ...environment }))
    vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  let chosen: string | undefined
  const command = withTarget(new Command('look').argument('[file]'))
    .option('--json')
    .action((_: unknown, { space }: ConnectionFlags) => {
      chosen = space
    })
  await command.parseAsync(['--url', url, '--token-file', tokenFile, ...args], { from: 'user' })
  return chosen
}

test('the only space of a gateway elsewhere is entered', async () => {
  expect(await choose(['demo'])).toBe('demo')
})

test('several spaces are listed', async () => {
  await expect(choose(['demo', 'prod'])).rejects.toMatchObject({
    code: 'ambiguous_space',
    message: 'the spaces demo, prod are possible. Choose one with --space.',
  })
})

test.each([
  ['named by an option', ['--space', 'other'], {}, 'other'],
  ['named by the environment', [], { MEUP_SPACE: 'other' }, undefined],
  ['of a file', ['log.jsonl'], {}, undefined],
])('a space %s is not looked up', async (_, args, environment, space) => {
  expect(await choose([], args, environment)).toBe(space)
  await expect(choose(['demo', 'prod'], args, environment)).resolves.toBe(space)
})
