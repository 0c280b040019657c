import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { withAgent } from '../support/coding-agents/agents.js'
import { installAgent } from '../support/coding-agents/install.js'
import { repositoryRoot } from '../support/files.js'

test(
  'the coding team does each step as its script says: a change and a test approved, a removal rejected',
  withAgent('opencode', async () => {
    const start = join(repositoryRoot, 'examples/coding-team/dist/start.js')
    const env = { ...process.env, CODER: await installAgent('opencode') }
    const { stdout } = await promisify(execFile)(process.execPath, [start, '--once'], { env })
    expect(stdout).toContain('coder ← edit')
    expect(stdout).toContain('nothing is removed here')
    expect(stdout).toContain('Every step was as expected.')
  }),
)
