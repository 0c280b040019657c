import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

/** What compiles the regular expressions of capabilities is half of the page, and few have any: it is loaded for those. */
const regularExpressionsLater: Plugin = {
  name: 'regular-expressions-later',
  enforce: 'pre',
  resolveId(source, importer) {
    if (source !== 're2js' || !importer?.includes('/protocol/')) return undefined
    return fileURLToPath(new URL('src/connect/regular-expressions.ts', import.meta.url))
  },
}

export default defineConfig({
  plugins: [regularExpressionsLater],
  build: {
    outDir: 'dist/page',
    target: 'es2022',
    // The policy of the page lets nothing be written into it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // `pnpm dev` finds its gateway here.
  server: { proxy: { '/spaces': { target: process.env.MEUP_URL ?? 'http://127.0.0.1:8080', ws: true } } },
})
