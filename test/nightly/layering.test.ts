import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { filesUnder, repositoryRoot } from '../support/files.js'

interface Cruise {
  readonly modules: readonly { readonly source: string }[]
  readonly summary: { readonly violations: readonly { readonly rule: { readonly name: string } }[] }
}

const config = '.dependency-cruiser.mjs'

function cruise(folder: string, paths: readonly string[]): Cruise {
  const program = join(repositoryRoot, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
  const { stdout, stderr } = spawnSync(process.execPath, [program, '--output-type', 'json', ...paths], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 27,
  })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

test('the tool reads every source', () => {
  const sources = ['protocol', 'packages', 'examples']
    .flatMap((folder) => [...filesUnder(folder), ...filesUnder(folder, '.tsx')])
    .filter((path) => /^(protocol|\w+\/[^/]+)\/src\//.test(path))
  const folders = new Set(sources.map((path) => path.replace(/\/src\/.*/, '/src')))
  const read = new Set(cruise(repositoryRoot, [...folders]).modules.map(({ source }) => source))
  expect(sources.length).toBeGreaterThan(400)
  expect(sources.filter((path) => !read.has(path))).toEqual([])
})

test('the tool finds what breaks a rule', () => {
  const folder = mkdtempSync(join(tmpdir(), 'meup-layering-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(join(repositoryRoot, config), join(folder, config))
  const imports = {
    'gateway/src/core/admission/a': "import type { B } from '../delivery/b.js'",
    'gateway/src/core/delivery/b': "import '../state/c.js'",
    'gateway/src/core/delivery/d': "import 'node:worker_threads'",
    'gateway/src/core/state/c': "import type { D } from '../admission/d.js'",
    'gateway/src/core/admission/d': "import { setTimeout } from 'node:timers'",
    'gateway/src/storage/e': "import { f } from '../core/f.js'",
    'gateway/src/core/f': "export { g } from './g.js'",
    'gateway/src/core/g': "import type { f } from './f.js'",
    'safety/src/h': "import '../../folds/src/i.js'",
    'folds/src/i': "const j = await import('./testing/j.js')",
    'folds/src/testing/j': '',
    'unknown/src/k': "import './l.js'",
    'unknown/src/l': '',
  }
  for (const [name, text] of Object.entries(imports)) {
    const path = join(folder, 'packages', `${name}.ts`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${text}\n`)
  }
  const { modules, summary } = cruise(folder, ['packages'])
  expect(modules.length).toBeGreaterThanOrEqual(Object.keys(imports).length)
  expect([...new Set(summary.violations.map(({ rule }) => rule.name))].sort()).toEqual([
    'direction-of-gateway-folders: storage',
    'direction-of-packages: safety',
    'no-cycle-of-files',
    'no-cycle-of-folders',
    'no-modules-of-node',
    'packages-are-listed',
    'relative-imports-stay-inside',
    'testing-is-for-tests',
  ])
})
