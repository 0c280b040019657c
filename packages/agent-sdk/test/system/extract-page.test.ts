import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { extractReasoning } from '@meup/agent-sdk/extract'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../../test/support/cli.js'
import { repositoryRoot } from '../../../../test/support/files.js'
import { snippetsOf } from '../../../../test/support/snippets.js'
import { samples } from '../extract/support/all-samples.js'

const snippets = snippetsOf('docs/extract.md')
const snippet = (language: string, file: string): string =>
  snippets.find((each) => each.language === language && each.file === file)?.text ?? ''

/** Runs a snippet and returns its output. */
async function run(file: string, source = snippet('ts', file)): Promise<string> {
  const folder = temporaryFolder({ 'package.json': '{"type":"module"}', [file]: source })
  symlinkSync(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'))
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', file], { cwd: folder })
  return stdout
}

test.each(['whole.ts', 'client.ts'])('%s prints what the page says', async (file) => {
  expect(await run(file)).toBe(snippet('text', file))
})

test('stream.ts prints what the page says', async () => {
  const message = (fields: object) => ({
    message: { role: 'assistant', content: '', ...fields },
    done: false,
  })
  const lines = [
    message({ thinking: 'Three tests' }),
    message({ thinking: ' fail.' }),
    message({ content: 'No.' }),
    { ...message({}), done: true, done_reason: 'stop', eval_count: 9 },
  ]
  const server = createServer((_, response) => {
    response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const source = snippet('ts', 'stream.ts')
  expect(source).toContain('http://localhost:11434')
  const printed = await run('stream.ts', source.replace('localhost:11434', `127.0.0.1:${port}`))
  expect(printed).toBe(snippet('text', 'stream.ts'))
})

test('the page has every source that there is', () => {
  const page = readFileSync(join(repositoryRoot, 'docs/extract.md'), 'utf8')
  const sources = new Set(samples.map(({ whole }) => extractReasoning(whole)?.source))
  expect(sources.size).toBeGreaterThan(10)
  for (const source of sources) expect(page).toContain(`\`${source}\``)
})
