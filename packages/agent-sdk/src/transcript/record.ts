import { type Static, Type } from '@sinclair/typebox'
import { Annotation } from './annotation.js'
import { Chain } from './chain.js'
import { type Content, checkContent } from './content.js'
import { TranscriptError } from './errors.js'
import { frozenJson } from './frozen-json.js'
import { mustFit } from './must-fit.js'
import { Usage } from './usage.js'
import { verifyCommits } from './verify.js'

const closed = { additionalProperties: false }
const hash = Type.String()
const link = Type.Union([hash, Type.Null()])

const CommitRecord = Type.Object(
  {
    hash,
    parent: link,
    content: Type.Unsafe<Readonly<Content>>(Type.Object({ content_type: Type.String() })),
    message: Type.String(),
    metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  closed,
)

/** A transcript as JSON. What is noted beside the commits is in no hash. */
const TranscriptRecord = Type.Object(
  {
    head: link,
    commits: Type.Array(CommitRecord),
    notes: Type.Array(
      Type.Object({ hash, annotation: Type.Optional(Annotation), usage: Type.Optional(Usage) }, closed),
    ),
  },
  closed,
)
export type TranscriptRecord = Static<typeof TranscriptRecord>

export function recordOf(chain: Chain): TranscriptRecord {
  const notes = chain.log().flatMap(({ commit: { hash }, annotation, usage }) => {
    if (annotation === undefined && usage === undefined) return []
    return { hash, ...(annotation && { annotation }), ...(usage && { usage }) }
  })
  return { head: chain.head, commits: [...chain.commits], notes }
}

/** Throws `invalid_record` where it is none, or where it was changed. */
export function chainOf(record: TranscriptRecord): Chain {
  mustFit(TranscriptRecord, record, 'record', 'invalid_record')
  const { head, commits, notes } = frozenJson(record)
  const verdict = verifyCommits(commits, head)
  if (!verdict.ok) {
    const { at, problem } = verdict
    throw new TranscriptError('invalid_record', `it was changed: at commit ${at}, the ${problem} is wrong`)
  }
  const chain = new Chain()
  for (const commit of commits) {
    checkContent(commit.content, 'invalid_record')
    chain.add(commit)
  }
  const known = new Set(commits.map((commit) => commit.hash))
  for (const { hash, annotation, usage } of notes) {
    if (!known.has(hash)) throw new TranscriptError('invalid_record', `a note on ${hash}, which is no commit`)
    if (annotation !== undefined) chain.annotate(hash, annotation)
    if (usage !== undefined) chain.record(hash, usage)
  }
  return chain
}
