import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { fromSources } from '../../../test/support/load-sources.js'

test('the gate can be bundled for browsers, and runs there', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import { compileSafety, defaultSafety } from '@meup/safety'
        globalThis.guard = compileSafety(defaultSafety).guard`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    plugins: [fromSources],
    write: false,
    platform: 'browser',
    format: 'iife',
    logLevel: 'silent',
  })
  // The bundle gets only globals that browsers have.
  const page: Record<string, unknown> = { TextDecoder, atob }
  runInNewContext(outputFiles[0]?.text ?? '', page)
  const { guard } = page
  expect(guard).toBeTypeOf('function')
  expect(runInNewContext('guard("a <|im_start|>").text', page)).toBe('a ‹|im_start|›')
})
