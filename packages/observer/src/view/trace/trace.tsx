import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { QuestionGroup } from '../../model/index.js'
import { useSpace } from '../shared/use-space.js'
import type { RowsHandle, ViewProps } from '../shared/virtual-rows.js'
import { Comparison } from './comparison.js'
import { QuestionTable } from './question-table.js'
import { TraceDetail } from './trace-detail.js'
import { TraceTree } from './trace-tree.js'
import '../../style/trace.css'

/** The questions with their totals, the trace of the chosen one, and details of the chosen step. */
export function Trace({ current, handle }: ViewProps): VNode {
  const { session } = useSpace()
  const { model } = session
  const { questions } = model.lists
  /** Key of the chosen question; `undefined` follows the latest one. */
  const [chosen, choose] = useState(() => {
    const envelope = current === undefined ? undefined : model.log.get(current)
    return envelope && model.getOrigin(envelope)
  })
  /** Keys of the compared questions, at most two. */
  const [compared, compare] = useState<readonly string[]>([])
  const rows = useRef<RowsHandle | undefined>(undefined)
  /** Id of an envelope to reveal once its question is drawn. */
  const wanted = useRef<string | undefined>(undefined)
  const question = questions.find(({ key }) => key === chosen) ?? questions.at(-1)
  useEffect(() => () => model.lists.drop('questions'), [model])
  useLayoutEffect(() => {
    handle({
      get list() {
        return rows.current?.list ?? model.lists.stream
      },
      toEnd() {
        choose(undefined)
        rows.current?.toEnd()
      },
      focus: (at) => rows.current?.focus(at),
      reveal(id, how) {
        const envelope = model.log.get(id)
        const origin = envelope && model.getOrigin(envelope)
        const other = questions.find(({ key }) => key === origin)
        if (other === undefined || other === question) return rows.current?.reveal(id, how)
        choose(origin)
        wanted.current = id
        return other.list.slots[other.list.indexOf(id)]?.key
      },
    })
    if (wanted.current !== undefined && question?.list.indexOf(wanted.current) !== -1) {
      rows.current?.reveal(wanted.current)
      wanted.current = undefined
    }
  })
  if (question === undefined) return <p class="empty dim">No run and no call yet.</p>
  const pair = compared.flatMap((key) => questions.find((each) => each.key === key) ?? [])
  const [one, other] = pair
  const slot = question.list.slots.find(({ key }) => key === current)
  return (
    <div class="trace">
      <div class={`trace-panes ${other === undefined ? '' : 'comparing'}`}>
        <QuestionTable
          questions={questions}
          shown={question.key}
          choose={(key) => {
            compare([])
            choose(key === questions.at(-1)?.key ? undefined : key)
          }}
          compared={pair.map(({ key }) => key)}
          compare={(key, isCompared) =>
            compare((now) => (isCompared ? [...now, key].slice(-2) : now.filter((each) => each !== key)))
          }
        />
        {one !== undefined && other !== undefined ? (
          <Comparison pair={inOrder(one, other, questions)} close={() => compare([])} />
        ) : (
          <>
            <TraceTree
              key={question.key}
              list={question.list}
              current={current}
              handle={(next) => {
                rows.current = next
              }}
            />
            <TraceDetail question={question} row={slot && question.list.getRow(slot)} />
          </>
        )}
      </div>
    </div>
  )
}

/** The two questions, earlier one first. */
const inOrder = (
  one: QuestionGroup,
  other: QuestionGroup,
  questions: readonly QuestionGroup[],
): readonly [QuestionGroup, QuestionGroup] =>
  questions.indexOf(one) <= questions.indexOf(other) ? [one, other] : [other, one]
