import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

export default defineConfig({
  build: {
    outDir: 'dist/page',
    target: 'es2022',
    // The page's Content-Security-Policy forbids `data:` URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The initial code is one file, since several files compress worse.
    rolldownOptions: {
      // Loading the `diff` package creates instances: marked as free of side effects, the unused ones are left out.
      treeshake: { moduleSideEffects: [{ test: /\/diff\/libesm\//, sideEffects: false }] },
      output: { codeSplitting: { groups: [{ name: 'page', tags: ['$initial'] }] } },
    },
  },
  // Components at `/components` use test fixtures, which import the package by its name: resolves it to its source.
  resolve: {
    alias: { '@meup/observer/model': fileURLToPath(new URL('src/model/index.ts', import.meta.url)) },
  },
  // The gateway for `pnpm dev`.
  server: { proxy: { '/spaces': { target: process.env.MEUP_URL ?? 'http://127.0.0.1:8080', ws: true } } },
})
