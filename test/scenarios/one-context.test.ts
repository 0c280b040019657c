import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from '@meup/gateway'
import { createTestGateway, FakeClock, testToken } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import { expect, onTestFinished } from 'vitest'
import { meup, temporaryFolder } from '../support/cli.js'
import { notify } from '../support/story.js'
import { cast } from '../support/story-lines.js'
import { verifies } from '../verifies.js'

verifies(
  'M32',
  'one context can be watched, exported as JSONL and Markdown, and replayed',
  async () => {
    const clock = new FakeClock()
    const gateway = await createTestGateway({ participants: cast, clock })
    const { url, close } = await serve({ gateway, host: '127.0.0.1', port: 0 })
    onTestFinished(close)
    await notify({ url, space: 'test', tokenOf: testToken }, clock)
    const run = async (...args: string[]): Promise<string> => {
      const env = { MEUP_URL: url, MEUP_SPACE: 'test', MEUP_TOKEN: testToken('ana') }
      const { code, stdout, stderr } = await meup(args, { env })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return stdout
    }

    const jsonl = await run('watch', '--no-follow', '--context', 'r1', '--json')
    const exported = jsonl
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Envelope)
    expect(exported.map(({ id }) => id)).toEqual([
      'r1',
      't1',
      'q1',
      'q2',
      'n1',
      'q3',
      't2',
      'q4',
      'n1e',
      'r1e',
    ])
    const file = join(temporaryFolder({ 'context.jsonl': '' }), 'context.jsonl')
    writeFileSync(file, jsonl)
    expect(await run('watch', '--no-follow', '--context', 'r1', '--reasoning', 'none')).not.toContain(
      'It touches tokens',
    )

    expect(await run('replay', file, '--speed', 'max')).toBe(
      await run('watch', '--no-follow', '--context', 'r1'),
    )
    const markdown = await run(
      'audit',
      'export',
      '--format',
      'markdown',
      '--thread',
      'security',
      '--turn',
      '1',
    )
    expect(markdown).toContain('[計画] Read both reports at once.')
  },
  { timeout: 60_000 },
)
