import { expect, test } from 'vitest'
import { packages } from './support/packages.js'

const kindLiteral =
  /^(chat|mcp|reasoning|observe|capability|space|participant|system)\.(?!ya?ml$|json$)[a-z-]+$/

test('the kinds of envelopes are spelled in the protocol alone', () => {
  const spelled = packages
    .filter(({ directory }) => !directory.startsWith('examples/'))
    .flatMap(({ files }) => files)
    .filter(({ path }) => path !== 'protocol/src/kinds.ts')
    .flatMap(({ path, strings }) =>
      strings.filter((each) => kindLiteral.test(each)).map((kind) => `${path}: ${kind}`),
    )
  expect(spelled).toEqual([])
})
