import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'

/** A package that a new space depends on. */
export interface Package {
  readonly name: string
  readonly version: string
  /** The package's folder, if it is linked from a git clone of this repository. */
  readonly folder?: string
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** Folder of this package. */
const own = realpathSync(fileURLToPath(new URL('../..', import.meta.url)))

/** Recognizes a version that a package.json has only in a git clone of this repository, not in a published package. */
const isLocal = (specifier: string): boolean => /^(?:workspace|catalog):/.test(specifier)

/**
 * The git clone that this program runs from, whose packages are not in a registry; `undefined` if it was installed from one.
 */
export const clone: string | undefined = Object.values(readManifest(own).dependencies ?? {}).some(isLocal)
  ? resolve(own, '../..')
  : undefined

/** Packages with the versions that this program was built and tested with. */
export function listPackages(): Package[] {
  const sdk = findFolder('@meup/agent-sdk', own)
  const named = [own, sdk].flatMap((folder) => {
    const { dependencies, devDependencies } = readManifest(folder)
    return Object.entries({ ...dependencies, ...devDependencies }).map(([name, specifier]) =>
      isLocal(specifier) ? packageIn(findFolder(name, folder)) : readSpecifier(name, specifier),
    )
  })
  return [packageIn(own), ...named]
}

function packageIn(folder: string): Package {
  const { name, version } = readManifest(folder)
  return { name, version, folder }
}

/** Parses `1.2.3`, or `npm:<name>@1.2.3` for an alias. */
function readSpecifier(name: string, specifier: string): Package {
  const [, real = name, version = specifier] = /^npm:(.+)@([^@]+)$/.exec(specifier) ?? []
  return { name: real, version }
}

/** Folder of a package, resolved from the package that uses it. */
function findFolder(name: string, user: string): string {
  const places = createRequire(join(user, 'package.json')).resolve.paths(name) ?? []
  const place = places.map((path) => join(path, name)).find((path) => existsSync(join(path, 'package.json')))
  if (place === undefined) throw new Error(`${name} is not installed; run pnpm install in ${clone ?? user}`)
  return realpathSync(place)
}

function choose(packages: readonly Package[], name: string): Package {
  const chosen = packages.find((each) => each.name === name)
  if (chosen === undefined) throw new Error(`a template uses ${name}, which meup was not built with`)
  return chosen
}

const isOurs = ({ name }: Package): boolean => name === 'meup' || name.startsWith('@meup/')

/** Archive name that `pnpm pack` generates. */
const archiveOf = ({ name, version }: Package): string =>
  `${name.replace('@', '').replace('/', '-')}-${version}.tgz`

export interface Dependencies {
  /** Contents of package.json and pnpm-workspace.yaml. */
  readonly files: Readonly<Record<string, string>>
  readonly packages: readonly Package[]
}

/**
 * Replaces each `*` in package.json with a version. With `archives`, packages of this project are installed from files in that
 * folder, also as dependencies of each other.
 */
export function addVersions(files: Readonly<Record<string, string>>, archives?: string): Dependencies {
  const all = listPackages()
  const {
    dependencies = {},
    devDependencies = {},
    ...manifest
  } = JSON.parse(files['package.json'] ?? '') as Manifest
  const specifier = (each: Package): string =>
    archives !== undefined && isOurs(each) ? `file:${join(archives, archiveOf(each))}` : each.version
  const complete = (names: object) =>
    Object.fromEntries(Object.keys(names).map((name) => [name, specifier(choose(all, name))]))
  const overrides = archives !== undefined && {
    overrides: Object.fromEntries(all.filter(isOurs).map((each) => [each.name, specifier(each)])),
  }
  const completed = {
    ...manifest,
    dependencies: complete(dependencies),
    devDependencies: complete(devDependencies),
    ...overrides,
  }
  return {
    files: {
      'package.json': `${JSON.stringify(completed, null, 2)}\n`,
      'pnpm-workspace.yaml': `${files['pnpm-workspace.yaml']}${overrides ? stringify(overrides) : ''}`,
    },
    packages: Object.keys({ ...dependencies, ...devDependencies }).map((name) => choose(all, name)),
  }
}

/** Archives of this project's packages that the folder lacks. */
export const missingArchives = (folder: string): string[] =>
  listPackages()
    .filter(isOurs)
    .map((each) => join(folder, archiveOf(each)))
    .filter((file) => !existsSync(file))

/**
 * Links packages and their commands into `node_modules`, to run without an installation. Each gets a package.json without
 * dependencies, because npm does not understand a clone's specifiers, and with version 0.0.0, so that a later `npm install`
 * replaces the links.
 */
export function linkPackages(packages: readonly Package[], directory: string): void {
  const modules = join(directory, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  for (const { name, folder } of packages) {
    if (folder === undefined) continue
    const place = join(modules, name)
    mkdirSync(place, { recursive: true })
    const kept = Object.entries(readManifest(folder)).filter(
      ([field]) => !/dependencies|scripts/i.test(field),
    )
    const manifest = { ...Object.fromEntries(kept), version: '0.0.0' }
    writeFileSync(join(place, 'package.json'), JSON.stringify(manifest))
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (['package.json', 'node_modules'].includes(entry.name)) continue
      symlinkSync(
        join(folder, entry.name),
        join(place, entry.name),
        entry.isDirectory() ? 'junction' : 'file',
      )
    }
    for (const [command, file] of Object.entries(commandsOf(folder))) {
      symlinkSync(relative(join(modules, '.bin'), join(place, file)), join(modules, '.bin', command))
    }
  }
}

function commandsOf(folder: string): Readonly<Record<string, string>> {
  const { name, bin = {} } = readManifest(folder) as { name: string; bin?: Manifest['bin'] | string }
  return typeof bin === 'string' ? { [name.replace(/^.*\//, '')]: bin } : bin
}
