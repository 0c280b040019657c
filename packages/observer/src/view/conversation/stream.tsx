import { GATEWAY } from '@meup/protocol'
import type { VNode } from 'preact'
import { questionText } from '../../model/index.js'
import { Avatar, memo, Name, Newer, Time } from '../shared/parts.js'
import { useRowActions } from '../shared/row-props.js'
import { useSpace } from '../shared/use-space.js'
import { getPlace, type RowProps, type ViewProps, VirtualRows } from '../shared/virtual-rows.js'
import { BeingWritten, LiveAnswerLine, RowContent, WhyOfAnswer } from './rows.js'

/** The conversation with what is thought in it. Only what is near the view is in the document. */
export function Stream({ current, handle }: ViewProps): VNode {
  const { session } = useSpace()
  const { model } = session
  const { answers } = model
  const origins = answers.map(({ trigger }) => {
    const asked = model.log.get(trigger)
    return asked === undefined ? trigger : model.getOrigin(asked)
  })
  const last = model.lists.stream.slots.at(-1)?.origin
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
        next={origins[0]}
        under={answers.map((answer, at) => (
          <article
            key={`${answer.from} ${answer.trigger}`}
            class={`row outer said-aloud ${getPlace(at === 0 ? last : origins[at - 1], origins[at], origins[at + 1])}`}
            aria-live="off"
            aria-busy={true}
          >
            <Avatar id={answer.from} />
            <div class="content">
              <header class="byline">
                <Name id={answer.from} />
                <BeingWritten />
              </header>
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
                onClick={() => {
                  session.loadEarlier().catch(reportError)
                }}
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

/** A row of the stream. Those that go back to one question stand in one card. */
const StreamRow = memo(({ row, index, count, isCurrent, isEntry, place }: RowProps): VNode => {
  const actions = useRowActions(row, isCurrent)
  const { envelope, depth, type, origin } = row
  const speaker = type === 'heading' ? row.owner : envelope.from
  const isQuiet = speaker === GATEWAY
  const isContinued = (place === 'start' || place === 'alone') && origin !== envelope.id
  return (
    <article
      class={`row ${depth > 0 ? 'inner' : 'outer'} ${place} ${isQuiet ? 'quiet' : ''} ${type === 'message' ? 'said-aloud' : ''}`}
      data-key={row.key}
      aria-posinset={index + 1}
      aria-setsize={count}
      aria-current={isCurrent}
      tabIndex={isEntry ? 0 : -1}
      {...actions}
    >
      {isContinued && origin !== undefined && <Continued origin={origin} />}
      {depth === 0 && !isQuiet ? <Avatar id={speaker} kind={type === 'heading' ? 'small' : ''} /> : <span />}
      <div class={`content depth-${Math.min(depth, 5)}`}>
        {depth === 0 && !isQuiet && type !== 'heading' && (
          <header class="byline">
            <Name id={speaker} />
            {type === 'message' && <WhyOfAnswer envelope={envelope} />}
            <Time ts={envelope.ts} />
          </header>
        )}
        <RowContent row={row} />
        {isQuiet && depth === 0 && <Time ts={envelope.ts} />}
      </div>
    </article>
  )
})

/** What question rows go back to that stand apart from it. */
function Continued({ origin }: { origin: string }): VNode | null {
  const { session, inspect } = useSpace()
  const question = session.model.log.get(origin)
  if (question === undefined) return null
  return (
    <button type="button" class="link continued" onClick={() => inspect(origin)}>
      ↳ <bdi>{question.from}</bdi>: {questionText(question)}
    </button>
  )
}
