import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { resolveRelative } from '../../../../test/support/imports.js'
import { fromSources } from '../../../../test/support/load-sources.js'
import { packages } from '../../../../test/support/packages.js'

test('reasoning is extracted in browsers as well', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import { extractReasoning } from '@meup/agent-sdk/extract'
        globalThis.extractReasoning = extractReasoning`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    plugins: [fromSources],
    write: false,
    platform: 'browser',
    format: 'iife',
    logLevel: 'silent',
  })
  // A global object without any browser or Node API.
  const page: Record<string, unknown> = {}
  runInNewContext(outputFiles[0]?.text ?? '', page)
  const found = runInNewContext('extractReasoning({ choices: [{ message: { reasoning: "Hm" } }] })', page)
  expect(found).toMatchObject({ reasoning: 'Hm', source: 'reasoning' })
})

test('it needs nothing but itself', () => {
  const room = 'packages/agent-sdk/src/extract/'
  const files = packages.flatMap((each) => each.files).filter(({ path }) => path.startsWith(room))
  expect(files.length).toBeGreaterThan(10)
  const outside = files.flatMap(({ path, imports }) =>
    imports.filter((each) => !each.startsWith('.') || !resolveRelative(path, each).startsWith(room)),
  )
  expect(outside).toEqual([])
})
