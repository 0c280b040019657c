import { createTestSpace } from '@meup/agent-sdk/testing'
import { isKnownKind, Kind, kindRules, ProtocolError } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { filesUnder } from './support/files.js'
import { packages, readText, testFiles } from './support/packages.js'

const spec = readText('protocol/SPEC.md')
const defined = new Set(
  [...spec.matchAll(/^- \*\*\[MEUP-([\d.]+)\]\*\*|^## (\d+)\. /gm)].map(
    ([, clause, section]) => clause ?? section,
  ),
)

/** Lists the clauses and sections that a text cites: `3` or `3.2`. */
const citedIn = (text: string): string[] =>
  [...text.matchAll(/MEUP-(\d+(?:\.\d+)?)/g)].map(([, clause = '']) => clause)
const missing = (paths: readonly string[]): string[] =>
  paths.flatMap((path) =>
    citedIn(readText(path))
      .filter((clause) => !defined.has(clause))
      .map((clause) => `${path} cites MEUP-${clause}`),
  )

describe('every clause exists that is cited', () => {
  const sources = packages.flatMap(({ files }) => files.map(({ path }) => path))
  test('in the source', () => {
    expect(sources.flatMap((path) => citedIn(readText(path))).length).toBeGreaterThan(50)
    expect(missing(sources)).toEqual([])
  })

  test('in tests and vectors', () => {
    expect(missing([...testFiles, ...filesUnder('protocol/vectors', '.json')])).toEqual([])
  })

  test('in the specification and the documentation', () => {
    expect(missing(['protocol/SPEC.md', ...filesUnder('docs', '.md')])).toEqual([])
  })
})

test('the specification says which kinds this gateway does not offer', async () => {
  await using space = await createTestSpace({ participants: { ana: ['*'] } })
  const ana = await space.join('ana')
  const acknowledged = Object.values(Kind).filter((kind) => !kindRules[kind].ephemeral)
  const answers = await Promise.allSettled(acknowledged.map((kind) => ana.send({ kind })))
  const refused = acknowledged.filter((_, index) => {
    const answer = answers[index]
    return (
      answer?.status === 'rejected' &&
      answer.reason instanceof ProtocolError &&
      answer.reason.code === 'unavailable'
    )
  })
  const [, paragraph = ''] = spec.split('## Conformance of this gateway')[1]?.split('\n\n') ?? []
  const named = [...paragraph.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word).filter(isKnownKind)
  expect(named.sort()).toEqual(refused.sort())
})
