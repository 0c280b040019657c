import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repositoryRoot } from '../support/files.js'
import { needing } from '../verifies.js'

const compilerOptions =
  '"target": "ES2022", "lib": ["ES2022", "DOM"], "module": "NodeNext", "composite": true, "skipLibCheck": true, "types": []'
const tsconfig = `{ "compilerOptions": { ${compilerOptions}, "rootDir": "src", "outDir": "dist", "tsBuildInfoFile": "dist/.tsbuildinfo" }, "include": ["src"] }`
const references =
  '{ "files": [], "references": [{ "path": "protocol" }, { "path": "packages/observer" }, { "path": "packages/cli" }] }'
const program = (word: string) => `declare const process: { argv: string[] }
console.log('${word}', process.argv.slice(2).join(' '))
export {}
`

/** A small repository with the layout and tools of this one. */
const root = mkdtempSync(join(tmpdir(), 'meup-build-'))
afterAll(() => rmSync(root, { recursive: true }))
beforeAll(() => {
  const files: Record<string, string> = {
    'package.json': '{ "type": "module" }',
    'tsconfig.json': references,
    'protocol/scripts/generate.ts':
      "import { writeFileSync } from 'node:fs'\nwriteFileSync('dist-generated', '')\n",
    'packages/safety/scripts/generate.ts': 'export {}\n',
    'packages/observer/index.html': '<script type="module" src="/src/main.ts"></script>',
    'packages/observer/vite.config.ts': "export default { build: { outDir: 'dist/page' } }",
    'packages/cli/src/main.ts': program('first'),
    'examples/.keep': '',
  }
  for (const folder of ['protocol', 'packages/observer', 'packages/cli']) {
    files[`${folder}/tsconfig.json`] = tsconfig
    files[`${folder}/package.json`] = '{ "type": "module" }'
    files[`${folder}/src/index.ts`] = 'export const one = 1\n'
  }
  files['packages/observer/src/main.ts'] = 'document.title = "page"\n'
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const path of ['scripts/build.mjs', 'packages/cli/bin/check-node.js']) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    copyFileSync(join(repositoryRoot, path), join(root, path))
  }
  mkdirSync(join(root, 'node_modules'))
  symlinkSync(join(repositoryRoot, 'node_modules/esbuild'), join(root, 'node_modules/esbuild'))
  for (const [folder, tool] of [
    ['.', 'tsc'],
    ['.', 'tsx'],
    ['protocol', 'tsx'],
    ['packages/observer', 'vite'],
  ] as const) {
    const bin = join(root, folder, 'node_modules/.bin')
    mkdirSync(bin, { recursive: true })
    const real = join(repositoryRoot, folder, 'node_modules/.bin', tool)
    writeFileSync(join(bin, tool), `#!/bin/sh\nexec '${real}' "$@"\n`, { mode: 0o755 })
  }
})

const stamp = () => join(root, 'node_modules/.cache/meup/build.json')
const write = (word: string) => writeFileSync(join(root, 'packages/cli/src/main.ts'), program(word))
const command = () => ['scripts/build.mjs', 'packages/cli/dist/program/main.js', 'a', 'b']

function run(uid?: number) {
  const { status, stdout, stderr } = spawnSync(process.execPath, command(), {
    cwd: root,
    encoding: 'utf8',
    ...(uid !== undefined && { uid, gid: uid }),
  })
  return { status, stdout, stderr }
}
const prints = (word: string) => ({ status: 0, stdout: `${word} a b\n`, stderr: '' })

test('what is run is built first, and again only after a change', () => {
  expect(run()).toEqual(prints('first'))
  expect(existsSync(join(root, 'packages/observer/dist/page/index.html'))).toBe(true)
  const built = statSync(join(root, 'packages/cli/dist/.tsbuildinfo')).mtimeMs
  expect(run()).toEqual(prints('first'))
  expect(statSync(join(root, 'packages/cli/dist/.tsbuildinfo')).mtimeMs).toBe(built)
  write('second')
  expect(run()).toEqual(prints('second'))
})

test('a change is built though its time is older than the last build', () => {
  write('from 2001')
  utimesSync(join(root, 'packages/cli/src/main.ts'), new Date('2001-02-03'), new Date('2001-02-03'))
  expect(run()).toEqual(prints('from 2001'))
})

test('a source that does not compile is not run, and its error is shown', () => {
  writeFileSync(join(root, 'packages/cli/src/main.ts'), 'const x: number = "text"\nexport {}\n')
  const { status, stdout, stderr } = run()
  expect({ status, stdout }).not.toMatchObject({ status: 0 })
  expect(stdout).toBe('')
  expect(stderr).toContain('main.ts')
  write('mended')
  expect(run()).toEqual(prints('mended'))
})

test('a build that was interrupted is done again', async () => {
  write('interrupted')
  const building = spawn(process.execPath, command(), { cwd: root, stdio: 'ignore', detached: true })
  const ended = new Promise((resolve) => building.once('close', resolve))
  await expect.poll(() => existsSync(stamp()), { interval: 1 }).toBe(false)
  if (building.pid !== undefined) process.kill(-building.pid, 'SIGINT')
  await ended
  expect(existsSync(stamp())).toBe(false)
  expect(run()).toEqual(prints('interrupted'))
})

test('a missing output is built again', () => {
  write('whole')
  run()
  rmSync(join(root, 'packages/cli/dist'), { recursive: true })
  expect(run()).toEqual(prints('whole'))
})

test(
  'a checkout that cannot be written runs what was built, and refuses to run what has changed',
  needing(
    'the right to run as somebody else (root)',
    () => process.getuid?.() === 0,
  )(() => {
    const nobody = 65_534
    chmodSync(root, 0o755)
    write('written')
    expect(run()).toEqual(prints('written'))
    expect(run(nobody)).toEqual(prints('written'))
    write('not written')
    const { status, stdout, stderr } = run(nobody)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(
      /^Sources have changed since the last build, and it cannot be written: .*EACCES.*\n$/,
    )
  }),
)
