import { formatDuration, getToolName, isObject, readRunUsage, summaryText } from '@meup/folds'
import { Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import {
  clockText,
  countText,
  type HeadingRow,
  hasHidden,
  isAllHidden,
  nameText,
  toggled,
} from '../../model/index.js'
import { useNow } from '../shared/hooks.js'
import { Chip, Name, Time, UntrustedText } from '../shared/parts.js'
import { countTokens } from '../shared/totals-text.js'
import { useSpace } from '../shared/use-space.js'

/** The heading of a run or nested context: `Thought 8 s · 3 tools · The port is 8080`. */
export function RunHeading({ row }: { row: HeadingRow }): VNode {
  const space = useSpace()
  const isOpen = row.level !== 'closed'
  return (
    <div class={`heading ${row.isLive ? 'live' : row.state}`}>
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => space.cycle(row.context)}>
        <span class="unseen">{`${isOpen ? 'Fold' : 'Unfold'} what ${row.owner} thinks: `}</span>
        <span class="mark" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        {!row.isNested && <Name id={row.owner} />}
        <span class="state">
          <StateText row={row} />
        </span>
        <Summary row={row} />
        <Time ts={row.startedAt} />
      </button>
      <Actions row={row} />
      <div class="chips">
        <Chips row={row} />
      </div>
    </div>
  )
}

const verbs = { open: 'Thinking', cancelled: 'Stopped', free: 'Context', concluded: 'Thought' } as const

function StateText({ row }: { row: HeadingRow }): VNode {
  const { model } = useSpace().session
  const now = useNow(row.isLive)
  const verb = row.isNested ? 'sub-context' : verbs[row.state]
  const spent = row.duration ?? (row.isLive ? model.gatewayTime(now) - Date.parse(row.startedAt) : null)
  const time = spent === null || (row.isLive && spent < 1000) ? '' : ` ${formatDuration(spent)}`
  const tokens = countTokens(readRunUsage(useEnd(row.end)))
  const parts = [
    `${verb}${time}`,
    row.did,
    row.summary !== undefined ? summaryText(row.summary) : '',
    row.thoughts > 0 && row.calls === 0 ? countText(row.thoughts, 'thought') : '',
    tokens > 0 ? countText(tokens, 'token') : '',
  ]
  return <>{parts.filter(Boolean).join(' · ')}</>
}

/** The conclusion if the run is folded, otherwise the opening text. */
function Summary({ row }: { row: HeadingRow }): VNode | null {
  if (row.level !== 'closed' || row.ending === null) {
    return row.opening === null ? null : <UntrustedText kind="opening" text={row.opening} />
  }
  return <UntrustedText kind="ending" text={row.ending} />
}

/** Maximum number of references, and of proposals; the inspector lists all. */
const maxLinks = 5

function Chips({ row }: { row: HeadingRow }): VNode {
  const { inspect, session } = useSpace()
  const { from, contexts } = session.subscription.wanted
  const isCut = from.includes(row.owner) || contexts.includes(row.context)
  // A folded run shows no references, so that it fits on one line.
  const references = row.level === 'closed' ? [] : row.references
  return (
    <>
      {!row.reasoningVisible && (
        <Chip kind="warn">
          {isAllHidden(row) ? 'hidden from everyone' : 'own thoughts hidden from everyone'}, by{' '}
          {row.hiddenBy.map(nameText).join(' and ')}
        </Chip>
      )}
      {row.expiresAt !== null && (
        <Chip kind="warn">
          left, and is stopped at {clockText(row.expiresAt)} unless {nameText(row.owner)} returns
        </Chip>
      )}
      {row.isMuted && <Chip>thoughts hidden by you</Chip>}
      {isCut && <Chip>✂ muted by you, at the gateway</Chip>}
      {row.isWithheld && <Chip kind="warn">withheld</Chip>}
      {row.late > 0 && <Chip>{row.late} late</Chip>}
      {row.confidence !== null && <Chip>{Math.round(row.confidence * 100)} % sure</Chip>}
      {references.slice(0, maxLinks).map(({ id }) => {
        // A reference to a context leads to the envelope that opened it, whose id is the last part of the path.
        const known = session.model.log.get(id.slice(id.lastIndexOf('/') + 1))
        return known === undefined ? (
          <span
            class="chip reference"
            key={id}
            title={`${nameText(id)}: not an envelope that is loaded here`}
            dir="auto"
          >
            {nameText(id)}
          </span>
        ) : (
          <button type="button" class="chip link" key={id} onClick={() => inspect(known.id)}>
            ↩ #{known.seq}
          </button>
        )
      })}
      {references.length > maxLinks && (
        <Chip>and {countText(references.length - maxLinks, 'reference')} more</Chip>
      )}
      <Proposals ids={row.proposals} />
      {row.level !== 'closed' && <Origin end={row.end} />}
    </>
  )
}

/** Metadata of the conclusion with this id. */
function useEnd(end: string | null): Readonly<Record<string, unknown>> {
  const { session } = useSpace()
  const { metadata } = end === null ? {} : (session.model.log.get(end)?.payload ?? {})
  return isObject(metadata) ? metadata : {}
}

/** Shows the language model of a run, and the hash of its transcript, which the machine of the agent keeps. */
function Origin({ end }: { end: string | null }): VNode {
  const { inspect } = useSpace()
  const metadata = useEnd(end)
  const { model } = readRunUsage(metadata)
  const { transcript } = metadata
  return (
    <>
      {model !== undefined && <Chip>{nameText(model)}</Chip>}
      {end !== null && typeof transcript === 'string' && /^[\da-f]{64}$/.test(transcript) && (
        <button
          type="button"
          class="chip link"
          title={`On the machine of the agent: meup transcript show ${transcript.slice(0, 12)}`}
          onClick={() => inspect(end)}
        >
          transcript <code>{transcript.slice(0, 12)}</code>
        </button>
      )}
    </>
  )
}

/** Proposals that a context led to, newest last. */
function Proposals({ ids }: { ids: readonly string[] }): VNode {
  const { inspect, session } = useSpace()
  const known = ids.flatMap((id) => session.model.log.get(id) ?? [])
  return (
    <>
      {known.length > maxLinks && <Chip>{countText(known.length - maxLinks, 'earlier proposal')}</Chip>}
      {known.slice(-maxLinks).map(({ id, seq, payload }) => (
        <button type="button" class="chip link" key={id} onClick={() => inspect(id)}>
          proposed #{seq} <code class="tool">{nameText(getToolName(payload))}</code>
        </button>
      ))}
    </>
  )
}

/** Actions on a run, for this reader or for everyone. */
const Actions = ({ row }: { row: HeadingRow }): VNode => (
  <span class="actions">
    <OwnActions row={row} />
    {row.isLive && !row.isNested && <RunActions row={row} />}
  </span>
)

/** Actions on a run that affect only this reader. */
function OwnActions({ row: { context } }: { row: HeadingRow }): VNode {
  const { session, viewFilter, isLive } = useSpace()
  const { cut } = session.subscription
  const isOnly = session.model.viewFilter.filter.context === context
  const isCut = cut.contexts.includes(context)
  return (
    <>
      <button
        type="button"
        class="seldom"
        title="Show this context alone, for you"
        onClick={() => viewFilter.narrow({ context: isOnly ? undefined : context })}
      >
        {isOnly ? 'Show others too' : 'Focus'}
      </button>
      <button
        type="button"
        class="seldom"
        disabled={!isLive}
        title="Its messages are not sent to you; others do not notice"
        onClick={() => viewFilter.cut({ ...cut, contexts: toggled(cut.contexts, context) })}
      >
        {isCut ? 'Unmute' : 'Mute'}
      </button>
    </>
  )
}

function RunActions({ row }: { row: HeadingRow }): VNode {
  const { session, isLive, can, act } = useSpace()
  const { context, owner } = row
  const [isStopping, setStopping] = useState(false)
  const me = session.welcome?.you.id ?? ''
  const isHiding = hasHidden(row, me)
  const toggled = { context, reasoningVisible: isHiding }
  const isOwn = me === owner
  const mayToggle = isOwn || can({ kind: Kind.observeVisibility, payload: toggled })
  const mayStop = can({ kind: Kind.reasoningCancel, context })
  return (
    <>
      {mayToggle && (
        <button
          type="button"
          disabled={!isLive}
          onClick={() =>
            act('The run could not be changed', async () => session.client?.setVisibility(context, isHiding))
          }
        >
          {isHiding ? 'Show again' : 'Hide for all'}
        </button>
      )}
      {mayStop && (
        <button
          type="button"
          disabled={!isLive || isStopping}
          onClick={() => {
            setStopping(true)
            act('The run could not be interrupted', async () => {
              try {
                await session.client?.interrupt(context)
              } catch (error) {
                setStopping(false)
                throw error
              }
            })
          }}
        >
          {isStopping ? 'Stopping…' : 'Interrupt'}
        </button>
      )}
    </>
  )
}
