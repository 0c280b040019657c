// Builds what has changed since the last build, then runs a program in this process:
//
//   node scripts/build.mjs                                  build
//   node scripts/build.mjs packages/cli/bin/meup.js join  build, then run it with the arguments that follow
//
// The stamp lists the size and time of every input of the last complete build. An interrupted build leaves none.

import '../packages/cli/bin/check-node.js'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const stamp = join(root, 'node_modules/.cache/meup/build.json')
const manifests = ['package.json', 'pnpm-lock.yaml', 'tsconfig.base.json', 'tsconfig.json']
const inPackage = ['package.json', 'tsconfig.json', 'vite.config.ts', 'index.html', 'src', 'scripts']
/** Matches paths in the packages that are bundled into the page of the observer. */
const ofPage = /^(protocol|packages\/(folds|safety|agent-sdk|observer))\//

const ownScript = /new URL\('([^']+\.js)', import\.meta\.url\)/g

const packages = ['protocol', ...['packages', 'examples'].flatMap(foldersIn)]
const changed = changedInputs()
if (changed.length > 0) await build(changed)

const [, self, program, ...args] = process.argv
if (program !== undefined && self === fileURLToPath(import.meta.url)) {
  const path = join(root, program)
  process.argv.splice(1, process.argv.length, path, ...args)
  await import(pathToFileURL(path).href)
}

function foldersIn(parent) {
  return readdirSync(join(root, parent))
    .map((name) => `${parent}/${name}`)
    .filter((folder) => existsSync(join(root, folder, 'tsconfig.json')))
}

/** Size and time of every input, by its path. */
function readInputs() {
  const inputs = {}
  const add = (path) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false })
    if (found === undefined) return
    if (found.isFile()) inputs[path] = `${found.size} ${found.mtimeMs}`
    else for (const name of readdirSync(join(root, path))) if (name !== 'generated') add(`${path}/${name}`)
  }
  for (const path of [
    ...manifests,
    ...packages.flatMap((folder) => inPackage.map((name) => `${folder}/${name}`)),
  ]) {
    add(path)
  }
  return inputs
}

/** Lists the inputs that were added, edited or removed since the last complete build; all inputs if an output is missing. */
function changedInputs() {
  const inputs = readInputs()
  const isWhole = [
    ...packages.map(buildInfo),
    join(root, 'packages/observer/dist/page/index.html'),
    join(root, 'packages/cli/dist/program/main.js'),
  ].every(existsSync)
  const built = isWhole && existsSync(stamp) ? JSON.parse(readFileSync(stamp, 'utf8')) : {}
  return Object.keys({ ...built, ...inputs }).filter((path) => built[path] !== inputs[path])
}

function buildInfo(folder) {
  return join(root, folder, 'dist/.tsbuildinfo')
}

async function build(paths) {
  const inputs = readInputs()
  try {
    rmSync(stamp, { force: true })
    for (const folder of packages)
      if (paths.some((path) => isStale(folder, path))) rmSync(buildInfo(folder), { force: true })
    mkdirSync(dirname(stamp), { recursive: true })
  } catch (error) {
    fail(`Sources have changed since the last build, and it cannot be written: ${error.message}`)
  }
  if (paths.some((path) => path.startsWith('protocol/') || !path.includes('/'))) {
    run('protocol', 'tsx', 'scripts/generate.ts')
  }
  if (paths.some((path) => path.startsWith('packages/safety/') || !path.includes('/'))) {
    run('.', 'tsx', 'packages/safety/scripts/generate.ts')
  }
  run('.', 'tsc', '-b')
  if (paths.some((path) => ofPage.test(path) || !path.includes('/'))) {
    run('packages/observer', 'vite', 'build', '--logLevel', 'warn')
  }
  await bundleProgram()
  writeFileSync(stamp, JSON.stringify(inputs))
}

/**
 * Bundles `meup` into few files, which load three times as fast. Programs of other threads and processes are separate files.
 */
async function bundleProgram() {
  const { build: bundle } = await import('esbuild')
  const modules = packages.flatMap((name) => {
    const folder = join(root, name, 'dist')
    return readdirSync(folder, { recursive: true }).map((path) => join(folder, path))
  })
  const scripts = modules
    .filter((path) => path.endsWith('.js') && hasSource(path))
    .flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(ownScript)].map(([, script]) => join(dirname(path), script)),
    )
  const outdir = join(root, 'packages/cli/dist/program')
  rmSync(outdir, { recursive: true, force: true })
  const { metafile } = await bundle({
    absWorkingDir: root,
    metafile: true,
    entryPoints: [join(root, 'packages/cli/dist/main.js'), ...new Set(scripts)],
    outdir,
    entryNames: '[name]',
    bundle: true,
    splitting: true,
    platform: 'node',
    // The CommonJS build of jsonc-parser loads its parts at run time, which a bundle cannot resolve.
    mainFields: ['module', 'main'],
    format: 'esm',
    target: 'node20',
    external: ['better-sqlite3', 'better-sqlite3-13', '@meup/observer', 'ai', '@ai-sdk/openai-compatible'],
    banner: {
      js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
    plugins: [{ name: 'own-scripts', setup: besideProgram }],
  })
  writeFileSync(join(outdir, 'third-parties.txt'), licensesOf(Object.keys(metafile.inputs)))
}

/** Whether the source of an output exists: `tsc -b` leaves the outputs of moved sources. */
function hasSource(path) {
  const source = path.replace(/([\\/])dist([\\/].*)\.js$/, '$1src$2')
  return ['.ts', '.tsx'].some((extension) => existsSync(source + extension))
}

/** Collects the licences of the packages that the files belong to. */
function licensesOf(files) {
  const folders = files.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? [])
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
      const file = readdirSync(join(root, folder)).find((each) => /^(licen[cs]e|copying)/i.test(each))
      const text = file === undefined ? '' : readFileSync(join(root, folder, file), 'utf8')
      return `${name} ${version} (${license})\n\n${text}`
    })
    .join('\n\n')
}

function besideProgram({ onLoad }) {
  onLoad({ filter: /\/packages\/[^/]+\/dist\/.*\.js$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replace(ownScript, (whole, script) =>
      whole.replace(script, `./${basename(script)}`),
    ),
  }))
}

/**
 * Returns `true` for a changed file that `tsc -b` would miss, because it compares times: one that was removed, or that is not
 * newer than the output of its package (a copy, a clock set back).
 */
function isStale(folder, path) {
  if (!path.startsWith(`${folder}/`) || !existsSync(buildInfo(folder))) return false
  const input = statSync(join(root, path), { throwIfNoEntry: false })
  return input === undefined || input.mtimeMs <= statSync(buildInfo(folder)).mtimeMs
}

function run(folder, command, ...args) {
  const cwd = join(root, folder)
  const { status, error } = spawnSync(join(cwd, 'node_modules/.bin', command), args, {
    cwd,
    stdio: ['ignore', 2, 2],
  })
  if (error) fail(`The build cannot run ${command}. Install the dependencies first: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
