import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly scripts?: Readonly<Record<string, string>>
  readonly gypfile?: boolean
}

/**
 * Finds the installed packages that the package in `folder` depends on, directly or indirectly, by folder. Optional packages
 * may be missing.
 */
function listInstalled(folder: string, found = new Map<string, Manifest>()): Map<string, Manifest> {
  if (found.has(folder)) return found
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  found.set(folder, manifest)
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    const places = createRequire(join(folder, 'package.json')).resolve.paths(name) ?? []
    const place = places.map((path) => join(path, name)).find((path) => existsSync(path))
    if (place !== undefined) listInstalled(realpathSync(place), found)
  }
  return found
}

test('nothing that the package installs is compiled, or runs a script', () => {
  const installed = listInstalled(realpathSync(fileURLToPath(new URL('../..', import.meta.url))))
  expect(installed.size).toBeGreaterThan(8)
  const running = [...installed].filter(
    ([folder, { scripts = {}, gypfile = true }]) =>
      ['preinstall', 'install', 'postinstall'].some((each) => each in scripts) ||
      (gypfile && existsSync(join(folder, 'binding.gyp'))),
  )
  expect(running.map(([folder]) => folder)).toEqual([])
})
