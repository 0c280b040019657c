import { Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { countText, durationText, type HeadingRow } from '../model/index.js'
import { useDesk } from './desk.js'
import { useNow } from './hooks.js'
import { Chip, Said } from './parts.js'

/** The line of a run or of a nested context: `Thought 8 s · 3 tools · what it came to`. */
export function RunHeading({ row }: { row: HeadingRow }): VNode {
  const desk = useDesk()
  const isOpen = row.level !== 'closed'
  return (
    <div class={`heading ${row.isLive ? 'live' : row.state}`}>
      <button
        type="button"
        class="fold"
        aria-expanded={isOpen}
        aria-label={`${isOpen ? 'Fold' : 'Unfold'} what ${row.owner} thinks`}
        onClick={() => desk.cycle(row.context)}
      >
        <span class="mark" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <span class="state">
          <StateText row={row} />
        </span>
        <Summary row={row} />
      </button>
      <Chips row={row} />
      {row.isLive && !row.isNested && <RunActions row={row} />}
    </div>
  )
}

function StateText({ row }: { row: HeadingRow }): VNode {
  const { model } = useDesk().session
  const now = useNow(row.isLive)
  const verb = row.isNested
    ? 'sub-context'
    : row.isLive
      ? 'Thinking'
      : row.state === 'cancelled'
        ? 'Stopped'
        : 'Thought'
  const spent = row.duration ?? (row.isLive ? model.gatewayTime(now) - Date.parse(row.startedAt) : null)
  const time = spent === null || (row.isLive && spent < 1000) ? '' : ` ${durationText(spent)}`
  const parts = [
    `${verb}${time}`,
    row.calls > 0 ? countText(row.calls, 'tool') : '',
    row.thoughts > 0 && row.calls === 0 ? countText(row.thoughts, 'thought') : '',
  ]
  return <>{parts.filter(Boolean).join(' · ')}</>
}

/** What it came to, else what it began with. */
function Summary({ row }: { row: HeadingRow }): VNode | null {
  if (row.level !== 'closed' || row.ending === null) {
    return row.opening === null ? null : <Said kind="opening" text={row.opening} />
  }
  return <Said kind="ending" text={row.ending} />
}

function Chips({ row }: { row: HeadingRow }): VNode {
  const { look, session } = useDesk()
  return (
    <>
      {!row.reasoningVisible && <Chip kind="warn">hidden from everybody</Chip>}
      {row.isMuted && <Chip>thoughts hidden by you</Chip>}
      {row.isWithheld && <Chip kind="warn">withheld</Chip>}
      {row.late > 0 && <Chip>{row.late} late</Chip>}
      {row.confidence !== null && <Chip>{Math.round(row.confidence * 100)} % sure</Chip>}
      {row.references.map(({ id, isResolved }) =>
        isResolved ? (
          <button type="button" class="chip link" key={id} onClick={() => look(id)}>
            ↩ #{session.model.log.get(id)?.seq}
          </button>
        ) : (
          <Chip key={id} kind="dim">
            ↩ {id} unknown
          </Chip>
        ),
      )}
    </>
  )
}

function RunActions({ row }: { row: HeadingRow }): VNode {
  const { session, isLive, can, act } = useDesk()
  const { context, reasoningVisible, owner } = row
  const toggled = { context, reasoningVisible: !reasoningVisible }
  const isOwn = session.welcome?.you.id === owner
  const mayToggle = isOwn || can({ kind: Kind.observeVisibility, payload: toggled })
  const mayStop = can({ kind: Kind.reasoningCancel, context })
  return (
    <span class="actions">
      {mayToggle && (
        <button
          type="button"
          disabled={!isLive}
          onClick={() =>
            act('The run could not be changed', async () =>
              session.desk?.setVisibility(context, !reasoningVisible),
            )
          }
        >
          {reasoningVisible ? 'Hide for all' : 'Show again'}
        </button>
      )}
      {mayStop && (
        <button
          type="button"
          disabled={!isLive}
          onClick={() =>
            act('The run could not be interrupted', async () => session.desk?.interrupt(context))
          }
        >
          Interrupt
        </button>
      )}
    </span>
  )
}
