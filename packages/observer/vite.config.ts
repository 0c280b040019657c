import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

export default defineConfig({
  build: {
    outDir: 'dist/page',
    target: 'es2022',
    // The policy of the page lets nothing be written into it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The initial code is one file, since several files compress worse.
    rolldownOptions: {
      // It creates unused comparison instances when it is loaded.
      treeshake: { moduleSideEffects: [{ test: /\/diff\/libesm\//, sideEffects: false }] },
      output: { codeSplitting: { groups: [{ name: 'page', tags: ['$initial'] }] } },
    },
  },
  // Fixtures of tests, on `/components` of the dev server, are over the sources.
  resolve: {
    alias: { '@meup/observer/model': fileURLToPath(new URL('src/model/index.ts', import.meta.url)) },
  },
  // `pnpm dev` finds its gateway here.
  server: { proxy: { '/spaces': { target: process.env.MEUP_URL ?? 'http://127.0.0.1:8080', ws: true } } },
})
