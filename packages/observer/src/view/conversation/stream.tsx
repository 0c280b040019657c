import { GATEWAY } from '@meup/protocol'
import type { VNode } from 'preact'
import type { Row } from '../../model/index.js'
import { memo, Name, Newer, Time } from '../shared/parts.js'
import { useRowActions } from '../shared/row-props.js'
import { useSpace } from '../shared/use-space.js'
import { type RowProps, type ViewProps, VirtualRows } from '../shared/virtual-rows.js'
import { BeingWritten, LiveAnswerLine, RowContent } from './rows.js'

/** The conversation with what is thought in it. Only what is near the view is in the document. */
export function Stream({ current, handle }: ViewProps): VNode {
  const { session } = useSpace()
  const { model } = session
  return (
    <div class="stream">
      <VirtualRows
        list={model.lists.stream}
        current={current}
        component={StreamRow}
        group={{
          role: 'feed',
          'aria-label': 'What happens in the space',
          'aria-busy': session.isLoading || model.isBehind,
        }}
        handle={handle}
        follow={(isFollowing) => model.follow(isFollowing)}
        under={model.answers.map((answer) => (
          <article
            key={`${answer.from} ${answer.trigger}`}
            class="row outer"
            aria-live="off"
            aria-busy={true}
          >
            <BeingWritten />
            <Name id={answer.from} />
            <div class="content">
              <LiveAnswerLine answer={answer} />
            </div>
          </article>
        ))}
        over={(isFollowing, start, toEnd) => (
          <>
            {session.hasEarlier && start === 0 && (
              <button
                type="button"
                class="earlier"
                disabled={session.isLoading}
                onClick={() => session.loadEarlier()}
              >
                {session.isLoading ? 'Loading…' : 'Load earlier'}
              </button>
            )}
            {!isFollowing && <Newer count={model.unseen} toEnd={toEnd} />}
          </>
        )}
      />
    </div>
  )
}

/** One line of the stream. */
const StreamRow = memo(({ row, index, count, isCurrent, isEntry }: RowProps): VNode => {
  const actions = useRowActions(row, isCurrent)
  const { envelope, depth } = row
  return (
    <article
      class={`row ${depth > 0 ? 'inner' : 'outer'} ${envelope.from === GATEWAY ? 'quiet' : ''}`}
      data-key={row.key}
      aria-posinset={index + 1}
      aria-setsize={count}
      aria-current={isCurrent}
      tabIndex={isEntry ? 0 : -1}
      {...actions}
    >
      {depth === 0 ? <Time ts={envelope.ts} /> : <span />}
      {depth === 0 && getOwner(row) !== GATEWAY ? <Name id={getOwner(row)} /> : <span />}
      <div class={`content depth-${Math.min(depth, 5)}`}>
        <RowContent row={row} />
      </div>
    </article>
  )
})

const getOwner = (row: Row): string => (row.type === 'heading' ? row.owner : row.envelope.from)
