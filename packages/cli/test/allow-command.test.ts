import { join } from 'node:path'
import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { CommandRunner } from '../src/join/command-runner.js'
import { answering } from './support/answering.js'
import { folderWith } from './support/folder.js'
import { envelope } from './support/turns.js'

const refusal = (seq: number, to: string[], more: object = {}): AnyEnvelope =>
  envelope(seq, 'system.decision', 'system:gateway', {
    to,
    payload: {
      ...{ decision: 'denied', reasonCode: 'capability_violation', message: 'no', count: 1 },
      attemptedArguments: { path: 'report.txt', token: '[redacted]' },
      missing: { tool: 'files/read' },
      ...more,
    },
  })

/** Runs `/allow` as ana, who may grant and always chooses the first offer. `envelopes`: decisions in the log, newest first. */
async function allow(argument: string, envelopes: readonly AnyEnvelope[]) {
  const { url, space, token } = await answering(() => ({
    body: { envelopes, epoch: 'e', head: 20, has_more: false },
  }))
  const flags = { url, space, tokenFile: join(folderWith({ token: token ?? '' }), 'token') }
  const [granted, asked, notes]: [unknown[], string[][], string[]] = [[], [], []]
  const view = {
    lines: {},
    ask: async (_: string, choices: readonly string[]) => {
      asked.push([...choices])
      return 0
    },
    notify: (line: string) => void notes.push(line),
  }
  const ana = {
    id: 'ana',
    can: () => true,
    grant: async (...given: unknown[]) => {
      granted.push(given)
      return { id: 'g1' }
    },
  }
  await new CommandRunner({ flags, view, space: ana } as never).runCommand('/allow', argument)
  return { granted, asked, notes }
}

describe('/allow', () => {
  test('grants what the last refused call of somebody else lacked, as narrowly as is chosen', async () => {
    const { granted, asked, notes } = await allow('', [refusal(9, ['ana']), refusal(8, ['bot'])])
    expect(asked[0]).toEqual(['only where path is report.txt', 'with any arguments'])
    expect(granted).toEqual([
      ['bot', [{ tool: 'files/read', arguments: { path: 'report.txt' } }], expect.anything()],
    ])
    expect(notes).toEqual(['✓ bot may call read of files where path is report.txt (grant g1)'])
  })

  test('grants a kind as it is', async () => {
    const { granted } = await allow('#8', [
      refusal(8, ['bot'], { missing: 'chat', attemptedArguments: undefined }),
    ])
    expect(granted).toEqual([['bot', ['chat'], expect.anything()]])
  })

  test('says so where there is nothing to allow', async () => {
    const { granted, notes } = await allow('8', [refusal(8, ['bot'], { missing: undefined })])
    expect([granted, notes]).toEqual([[], ['#8 is not a refusal that you may allow']])
  })
})
