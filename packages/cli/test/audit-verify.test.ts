import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../../../test/support/cli.js'
import { verifyAudit } from '../src/commands/audit.js'

test('audit verify ends with 8 where an export is not what was logged', async () => {
  const { exitCode } = process
  onTestFinished(() => {
    process.exitCode = exitCode
  })
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  const file = join(temporaryFolder(), 'export.jsonl')
  writeFileSync(file, '{"not":"a header"}\n')
  await verifyAudit(file, {})
  expect(process.exitCode).toBe(8)
  expect(write).toHaveBeenCalledWith(expect.stringMatching(/^line 1 is wrong: /))
})
