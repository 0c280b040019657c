import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { WebSocket } from 'ws'
import { temporaryFolder } from '../../../../test/support/cli.js'
import { repositoryRoot } from '../../../../test/support/files.js'

/** A WebSocket like that of browsers, which does not require a listener for errors. */
class NativeSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols)
    this.on('error', () => {})
  }
}

/** A browser bundle with code splitting. */
export interface BrowserBundle {
  /** Gzipped bytes that a page loads immediately: the entry point and its static imports. */
  readonly atOnce: number
  /** Gzipped bytes that a page loads on demand. */
  readonly later: number
  /** Loads the bundle in this process, with the `WebSocket` of browsers. `withoutLater`: dynamic imports fail. */
  load<Module>(options?: { readonly withoutLater?: boolean }): Promise<Module>
}

/** Bundles a script as a developer would, such as `export { connect } from '@meup/agent-sdk'`. */
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
