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

/** The address of a script in its own thread or process. */
const scripts = /new URL\('(\.[^']*)\.m?js', import\.meta\.url\)/

/** The same for `esbuild`, where a test bundles something itself. */
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
 * or process, which cannot load TypeScript, is bundled when a test first imports its owner.
 */
export function loadSources(): Plugin {
  return {
    name: 'load-sources',
    enforce: 'pre',
    configureVitest({ experimental_defineCacheKeyGenerator }) {
      const resolved = JSON.stringify([...sources])
      // The sources of a bundle may change without the module that starts it.
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

/** The code with the addresses of its scripts replaced by those of their bundles, and what the bundles are made from. */
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

/** Public imports of a package, and its own imports by `#name`, each with its source file. */
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

/** `./dist/a/b.js` of a package is made from `src/a/b.ts`. */
function sourceOf(folder: string, target: Target): string | undefined {
  if (typeof target !== 'string') return sourceOf(folder, target.default)
  const path = join(folder, target.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))
  return path.endsWith('.ts') && existsSync(path) ? path : undefined
}

/** In the `node_modules` of its package, where the bundle finds what it imports of others. */
function bundleOf(script: string): string {
  const [folder = ''] = /^.*?(?=\/(src|test)\/)/.exec(script.slice(root.length)) ?? []
  return join(root, folder, 'node_modules/.cache/meup', basename(script).replace(/\.\w+$/, '.mjs'))
}

/** The files that each bundle is made from. */
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
    // For what is written in CommonJS.
    banner: {
      js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
    plugins: [fromSources],
  })
  return Object.keys(metafile.inputs).map((path) => join(root, path))
}
