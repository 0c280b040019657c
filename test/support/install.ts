import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { mkdtemp, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findExecutable } from '../../packages/cli/src/lib/find-executable.js'
import { repositoryRoot } from './files.js'

const run = promisify(execFile)

/** An installed Node.js of another version. */
export interface InstalledNode {
  /** Folder with `node`, `npm` and `npx` only. */
  readonly bin: string
  /** Folder with the headers of Node.js, for `npm_config_nodedir`. Addons are compiled with them. */
  readonly headers: string
}

/** Installs the newest Node.js of a major version from npm, once, into `node_modules/.cache/meup-node`. */
export async function installNode(major: string): Promise<InstalledNode> {
  const cache = join(repositoryRoot, 'node_modules/.cache/meup-node')
  const folder = join(cache, major)
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true })
    const part = await mkdtemp(`${folder}.`)
    await run('npm', ['install', '--prefix', part, '--no-audit', '--no-fund', `node@${major}`])
    await rename(part, folder)
  }
  const node = realpathSync(join(folder, 'node_modules/node/bin/node'))
  const bin = join(folder, 'bin')
  rmSync(bin, { recursive: true, force: true })
  mkdirSync(bin)
  symlinkSync(node, join(bin, 'node'))
  for (const name of ['npm', 'npx']) symlinkSync(pathOf(name), join(bin, name))
  return { bin, headers: await findHeaders(join(folder, 'node_modules')) }
}

/**
 * Returns the path of a program in `PATH` without symbolic links. npm and npx are scripts: the first `node` in `PATH` runs
 * them.
 */
export function pathOf(program: string): string {
  const found = findExecutable(program, process.env.PATH ?? '')
  if (found === undefined) throw new Error(`${program} is not installed`)
  return realpathSync(found)
}

/** Finds the headers of Node.js, which are in the package with the program for this system. */
async function findHeaders(modules: string): Promise<string> {
  const found = (await readdir(modules, { recursive: true })).find((path) =>
    path.endsWith('include/node/node.h'),
  )
  if (found === undefined) throw new Error(`there are no headers of Node.js in ${modules}`)
  return dirname(dirname(dirname(join(modules, found))))
}

let packing: Promise<string> | undefined

/** Packs every package as it would be published. Returns the folder with the tarballs. */
export function packsOf(): Promise<string> {
  packing ??= pack()
  return packing
}

async function pack(): Promise<string> {
  const folder = join(repositoryRoot, 'packs')
  rmSync(folder, { recursive: true, force: true })
  await run('npx', ['-y', 'pnpm@10', 'packs'], { cwd: repositoryRoot, maxBuffer: 64 * 1024 * 1024 })
  return folder
}

/**
 * Folder of compiled addons, in which prebuild-install looks before it downloads one:
 * `npm_config_better_sqlite3_local_prebuilds`.
 */
export const prebuilds = join(repositoryRoot, 'node_modules/.cache/meup-prebuilds')

/**
 * Copies the addon that npm has compiled to `prebuilds`, for later installations. Does nothing for pnpm, which has it in
 * another place.
 */
export async function keepAddon(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const addon = join(folder, 'node_modules/better-sqlite3')
  if (!existsSync(addon)) return
  const { version } = JSON.parse(readFileSync(join(addon, 'package.json'), 'utf8'))
  const target = "[process.versions.modules, process.platform, process.arch].join('-')"
  const { stdout } = await run('node', ['-p', target], { env })
  const file = join(prebuilds, `better-sqlite3-v${version}-node-v${stdout.trim()}.tar.gz`)
  mkdirSync(prebuilds, { recursive: true })
  if (!existsSync(file)) await run('tar', ['-C', addon, '-czf', file, 'build/Release/better_sqlite3.node'])
}
