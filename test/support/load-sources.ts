import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Plugin as BundlerPlugin, build } from 'esbuild'
import type { Plugin } from 'vitest/config'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

type Target = string | { readonly default: Target }
interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, Target>>
  readonly imports?: Readonly<Record<string, Target>>
}

const sources = new Map(packageFolders().flatMap(sourcesOf))

/** Matches the URL of a script for a thread or process. */
const scripts = /new URL\('(\.[^']*)\.m?js', import\.meta\.url\)/

/** Resolves packages to their sources for `esbuild`, in tests that bundle something themselves. */
export const fromSources: BundlerPlugin = {
  name: 'from-sources',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(@meup\/|#)/ }, ({ path }) => {
      const source = sources.get(path)
      return source === undefined ? undefined : { path: source }
    })
    onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const { code, watchFiles } = await withBundles(readFileSync(path, 'utf8'), path)
      return { contents: code, loader: 'ts', watchFiles }
    })
  },
}

/**
 * Resolves the packages of this repository to their sources, so that tests need no build. A script that runs in its own thread
 * or process, which cannot load TypeScript, is bundled when a test first imports the module that starts the script.
 */
export function loadSources(): Plugin {
  return {
    name: 'load-sources',
    enforce: 'pre',
    configureVitest({ experimental_defineCacheKeyGenerator }) {
      const resolved = JSON.stringify([...sources])
      // Modules that start a bundle are not cached, because the sources of the bundle may change without them.
      experimental_defineCacheKeyGenerator(({ sourceCode }) => (scripts.test(sourceCode) ? false : resolved))
    },
    resolveId: (id) => sources.get(id),
    async transform(code, id) {
      if (id.includes('/node_modules/')) return undefined
      const bundled = await withBundles(code, id)
      for (const path of bundled.watchFiles) this.addWatchFile(path)
      return bundled.code === code ? undefined : { code: bundled.code, map: null }
    },
    watchChange: () => bundles.clear(),
  }
}

/** Replaces the URLs of scripts in a module by those of their bundles. `watchFiles`: sources of the bundles. */
async function withBundles(code: string, path: string): Promise<{ code: string; watchFiles: string[] }> {
  let replaced = code
  const watchFiles: string[] = []
  for (const [whole, name = ''] of code.matchAll(new RegExp(scripts, 'g'))) {
    const script = ['.ts', '.mjs'].map((ending) => join(dirname(path), name + ending)).find(existsSync)
    if (script === undefined) continue
    const outfile = bundleOf(script)
    const bundling = bundles.get(outfile) ?? bundleScript(script, outfile)
    bundles.set(outfile, bundling)
    watchFiles.push(...(await bundling))
    replaced = replaced.replace(whole, `new URL(${JSON.stringify(pathToFileURL(outfile).href)})`)
  }
  return { code: replaced, watchFiles }
}

function packageFolders(): string[] {
  const folders = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name))
  return [join(root, 'protocol'), ...folders].filter((folder) => existsSync(join(folder, 'package.json')))
}

/** Lists the public imports of a package, and its internal imports by `#name`, each with its source file. */
function sourcesOf(folder: string): [specifier: string, source: string][] {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const exported = Object.entries(manifest.exports ?? {}).map(
    ([subpath, target]) => [manifest.name + subpath.slice(1), target] as const,
  )
  return [...exported, ...Object.entries(manifest.imports ?? {})].flatMap(([specifier, target]) => {
    const source = sourceOf(folder, target)
    return source === undefined ? [] : [[specifier, source]]
  })
}

/** Finds the source of an output: `./dist/a/b.js` of a package is made from `src/a/b.ts`. */
function sourceOf(folder: string, target: Target): string | undefined {
  if (typeof target !== 'string') return sourceOf(folder, target.default)
  const path = join(folder, target.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))
  return path.endsWith('.ts') && existsSync(path) ? path : undefined
}

/** Path of the bundle of a script: in the `node_modules` of its package, so that the bundle can import dependencies. */
function bundleOf(script: string): string {
  const [folder = ''] = /^.*?(?=\/(src|test)\/)/.exec(script.slice(root.length)) ?? []
  return join(root, folder, 'node_modules/.cache/meup', basename(script).replace(/\.\w+$/, '.mjs'))
}

/** Paths of the sources of each bundle that was made, by the path of the bundle. */
const bundles = new Map<string, Promise<string[]>>()

async function bundleScript(script: string, outfile: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [script],
    outfile,
    bundle: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['better-sqlite3'],
    // Defines `require` for dependencies in CommonJS.
    banner: {
      js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
    plugins: [fromSources],
  })
  return Object.keys(metafile.inputs).map((path) => join(root, path))
}
