import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { repositoryRoot } from './support/files.js'
import { packages, readText } from './support/packages.js'
import { verifies } from './verifies.js'

const settings = (file: string): unknown => JSON.parse(readFileSync(join(repositoryRoot, file), 'utf8'))

verifies('I41', 'types and lint are strict, and the list of features names the reasoning summary', () => {
  expect(settings('tsconfig.base.json')).toMatchObject({
    compilerOptions: { strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
  })
  const files = packages.map(({ directory }) => `${directory}/tsconfig.json`)
  for (const file of files.filter((each) => existsSync(join(repositoryRoot, each)))) {
    const { compilerOptions = {} } = settings(file) as { compilerOptions?: object }
    const relaxing = Object.keys(compilerOptions).filter((name) => /strict|unchecked|exact/i.test(name))
    expect([file, relaxing]).toEqual([file, []])
  }
  expect(settings('biome.json')).toMatchObject({
    linter: { rules: { preset: 'recommended', style: { noNonNullAssertion: 'error' } } },
  })
  const { scripts } = settings('package.json') as { scripts: Record<string, string> }
  expect(scripts.check).toBe('pnpm lint && pnpm test && pnpm test:integration')
  expect(scripts.lint).toContain('lint:(types|style|promises|imports|unused)')
  const checks = ['types', 'style', 'unused'].map((name) => scripts[`lint:${name}`]).join()
  expect(checks).toMatch(/tsc .*biome check \..*knip/)
  expect(readText('docs/features.md')).toMatch(/^\| Agent Reasoning Summary +\| ✅ +\|/m)
})
