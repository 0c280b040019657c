import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'

/** A package that the files of a new space use, and where this command has it. */
export interface FoundPackage {
  readonly name: string
  readonly folder: string
  /** As a package.json says it: a version, or the folder of one that is in no registry. */
  readonly specifier: string
}

const needed = [
  'meup',
  '@meup/agent-sdk',
  '@modelcontextprotocol/server-filesystem',
  '@sinclair/typebox',
  'tsx',
] as const

/** Where this command has the packages itself. Throws where one is missing. */
export const findPackages = (): FoundPackage[] => needed.map(found)

function found(name: string): FoundPackage {
  const self = createRequire(import.meta.url)
  const places = self.resolve.paths(name) ?? []
  const place = places.map((path) => join(path, name)).find((path) => existsSync(join(path, 'package.json')))
  if (place === undefined) {
    throw new Error(
      `${name} is not installed beside meup; run this from a clone in which pnpm install was run`,
    )
  }
  const folder = realpathSync(place)
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  const isInstalled = folder.split(sep).includes('node_modules')
  return { name, folder, specifier: isInstalled ? version : `link:${folder}` }
}

/** Links the packages into a folder, as an installation of its package.json would; `meup` is a command there. */
export function linkPackages(packages: readonly FoundPackage[], directory: string): void {
  const modules = join(directory, 'node_modules')
  for (const { name, folder } of packages) {
    const link = join(modules, name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(folder, link, 'junction')
  }
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync(join('..', 'meup', 'bin', 'meup.js'), join(modules, '.bin', 'meup'))
}

/** The package.json of a new space. */
export const packageJson = (name: string, packages: readonly FoundPackage[]): string =>
  `${JSON.stringify(
    {
      name,
      private: true,
      type: 'module',
      scripts: { start: 'meup up', join: 'meup join' },
      dependencies: Object.fromEntries(packages.map(({ name, specifier }) => [name, specifier])),
    },
    null,
    2,
  )}\n`
