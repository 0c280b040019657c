import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { WebSocket } from 'ws'
import { temporaryFolder } from '../../../../test/support/cli.js'
import { repositoryRoot } from '../../../../test/support/files.js'

/** Browsers do not require listeners for error events. */
class NativeSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols)
    this.on('error', () => {})
  }
}

/** The output of a bundler with code splitting for browsers. */
export interface BrowserBundle {
  /** Bytes of what a page loads at once: the entry and the files that it imports; gzipped. */
  readonly atOnce: number
  /** Bytes of what it loads when something of it is needed; gzipped. */
  readonly later: number
  /** Runs it here, with the `WebSocket` that browsers have. `withoutLater`: what is loaded later cannot be. */
  load<Module>(options?: { readonly withoutLater?: boolean }): Promise<Module>
}

/** Bundles a script as a developer would: `export { connect } from '@meup/agent-sdk'`. */
export async function bundleForBrowsers(contents: string): Promise<BrowserBundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: repositoryRoot },
    ...{ bundle: true, minify: true, splitting: true, format: 'esm', platform: 'browser', target: 'es2022' },
    ...{ outdir: 'out', outExtension: { '.js': '.mjs' }, write: false, metafile: true },
  })
  const first = new Set<string>()
  const add = (path: string): void => {
    first.add(path)
    for (const each of metafile.outputs[path]?.imports ?? [])
      if (each.kind === 'import-statement') add(each.path)
  }
  const entry = 'out/stdin.mjs'
  add(entry)
  const files = outputFiles.map(({ path, contents }) => {
    const name = Object.keys(metafile.outputs).find((each) => path.endsWith(each)) ?? path
    return { name, contents, isFirst: first.has(name), bytes: gzipSync(contents).length }
  })
  const sum = (isFirst: boolean): number =>
    files.filter((each) => each.isFirst === isFirst).reduce((all, { bytes }) => all + bytes, 0)
  return {
    atOnce: sum(true),
    later: sum(false),
    load: async ({ withoutLater = false } = {}) => {
      const folder = temporaryFolder()
      for (const { name, contents } of files) {
        mkdirSync(dirname(join(folder, name)), { recursive: true })
        writeFileSync(join(folder, name), contents)
      }
      if (withoutLater) for (const { name, isFirst } of files) if (!isFirst) rmSync(join(folder, name))
      Object.assign(globalThis, { WebSocket: NativeSocket })
      return import(pathToFileURL(join(folder, entry)).href)
    },
  }
}
