import { getToolName, type StateText } from '@meup/folds'
import { Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { ageText, nameText, type Person, type ReportedStatus, splitTarget } from '../../model/index.js'
import { isDecidable } from '../decide/is-decidable.js'
import { useNow } from '../shared/hooks.js'
import { Avatar, Name, SearchField } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { Invite } from './invite.js'

/** Maximum number of listed participants; others can be found by name. */
const maxListed = 100
/** Minimum number of participants for a search field. */
const minForSearch = 12

const groups = [
  ['agent', 'Agents'],
  ['person', 'People'],
  ['tool', 'Tools'],
] as const

/** The participants of the space, with their activity and whether their thoughts are shown. */
export function PeoplePanel(): VNode {
  const { session } = useSpace()
  const { model } = session
  const { people } = model
  const [sought, setSought] = useState('')
  const found = sought === '' ? people : people.filter(({ id }) => id.includes(sought.trim()))
  const present = people.filter(({ isPresent }) => isPresent).length
  const listed = found.slice(0, maxListed)
  const now = Date.now()
  const isRemoved = ({ id }: Person): boolean => {
    const { kicked } = model.stateOf(id, now)
    return kicked !== undefined && kicked.until === undefined
  }
  const removed = listed.filter(isRemoved)
  return (
    <nav class="people" aria-label="Participants">
      <h2>
        Participants{' '}
        <span class="dim">{`${present.toLocaleString('en')} of ${people.length.toLocaleString('en')}`}</span>
      </h2>
      {people.length > minForSearch && (
        <SearchField label="Find a participant" value={sought} set={setSought} />
      )}
      {groups.map(([role, title]) => (
        <PeopleGroup
          key={role}
          title={title}
          isOpen={true}
          list={listed.filter((each) => each.role === role && !removed.includes(each))}
        />
      ))}
      <PeopleGroup title="Removed" isOpen={sought !== ''} list={removed} />
      {found.length > maxListed && (
        <p class="dim rest">and {(found.length - maxListed).toLocaleString('en')} more: find them by name</p>
      )}
      <Invite />
      {found.length === 0 && sought !== '' && <p class="dim rest">No participant has this name.</p>}
    </nav>
  )
}

interface PeopleGroupProps {
  readonly title: string
  readonly isOpen: boolean
  readonly list: readonly Person[]
}

function PeopleGroup({ title, isOpen, list }: PeopleGroupProps): VNode | null {
  const { panel } = useSpace()
  if (list.length === 0) return null
  return (
    <details open={isOpen}>
      <summary>{title}</summary>
      <ul>
        {list.map((person) => (
          <PersonLine
            key={person.id}
            person={person}
            isShown={panel?.at === 'person' && panel.id === person.id}
          />
        ))}
      </ul>
    </details>
  )
}

/** Symbol and colour of each state. */
export const stateMarks: Readonly<
  Record<StateText['name'], { readonly mark: string; readonly tone: string }>
> = {
  here: { mark: '●', tone: '' },
  away: { mark: '○', tone: '' },
  starting: { mark: '◌', tone: 'busy' },
  paused: { mark: '‖', tone: 'warn' },
  kicked: { mark: '✗', tone: 'bad' },
  failed: { mark: '✗', tone: 'bad' },
  restarting: { mark: '✗', tone: 'bad' },
  resting: { mark: '✗', tone: 'bad' },
}

/** State of a participant as text; redraws while the state may expire. */
export function useStateText(person: Pick<Person, 'id' | 'isPresent'>): StateText {
  const { model } = useSpace().session
  const { paused, kicked } = model.stateOf(person.id, Date.now())
  useNow(paused?.until !== undefined || kicked?.until !== undefined)
  return model.describeState(person, Date.now())
}

function PersonLine({ person, isShown }: { person: Person; isShown: boolean }): VNode {
  const { session, viewFilter, showPanel } = useSpace()
  const { id, isPresent, load, isMuted } = person
  const state = useStateText(person)
  const isThinking = load > 0 && (state.name === 'here' || state.name === 'away')
  const { mark, tone } = isThinking ? { mark: '◐', tone: 'busy' } : stateMarks[state.name]
  const text = isThinking ? 'thinking' : state.text
  const isCut = session.subscription.wanted.from.includes(id)
  const status = session.model.members.getStatus(id)
  const used = getContextUsage(status)
  const isMe = id === session.welcome?.you.id
  return (
    <li class={isPresent ? '' : 'away'}>
      <div>
        <span class="portrait">
          <Avatar id={id} kind="small" />
          <span class={`presence ${tone}`} role="img" aria-label={text} title={text}>
            {mark}
          </span>
        </span>
        <button
          type="button"
          class="link who"
          aria-expanded={isShown}
          title={`${id}: what it may do, and more`}
          onClick={() => showPanel(isShown ? undefined : { at: 'person', id })}
        >
          <Name id={id} />
        </button>
        {state.name !== 'here' && state.name !== 'away' && (
          <span class={`state ${tone}`} title={state.text}>
            {state.name}
          </span>
        )}
        {isMe && <span class="dim">you</span>}
        {load > 0 && <Stop id={id} load={load} />}
        {status?.asks === false && (
          <span
            class="mark"
            role="img"
            aria-label="does not ask"
            title="It runs its own tools without asking: what it may not is found afterwards"
          >
            ⚠
          </span>
        )}
        {!isMe && (
          <button
            type="button"
            class="mute"
            aria-pressed={isMuted}
            title={isMuted ? `Show what ${id} thinks` : `Hide what ${id} thinks, for you alone`}
            aria-label={isMuted ? `Show the thoughts of ${id}` : `Hide the thoughts of ${id}`}
            onClick={() => viewFilter.mute(id, !isMuted)}
          >
            {isMuted ? 'show' : 'hide'}
          </button>
        )}
        {isCut && (
          <span
            class="mark"
            role="img"
            aria-label="cut at the gateway"
            title="Cut at the gateway, for you alone"
          >
            ✂
          </span>
        )}
      </div>
      {load > 0 && <Doing id={id} />}
      {used !== undefined && (
        <meter
          class={`context ${used >= nearlyFull ? 'warn' : ''}`}
          min={0}
          max={100}
          value={used}
          aria-label={`How full the context of ${id} is`}
          title={`Its context is ${used} % full`}
        />
      )}
    </li>
  )
}

/** Number of a participant's open runs, with a button to stop them. */
function Stop({ id, load }: { id: string; load: number }): VNode {
  const { session, isLive, can, act } = useSpace()
  const stoppable = session.model
    .runs()
    .flatMap(({ context, owner }) => (owner === id ? [context] : []))
    .filter((context) => can({ kind: Kind.reasoningCancel, context }))
  return (
    <>
      <span class="load" title="Runs that go on">
        {load}
      </span>
      {stoppable.length > 0 && (
        <button
          type="button"
          class="mute stop-all"
          disabled={!isLive}
          aria-label={`Stop what ${id} does`}
          onClick={() => act('Not all runs could be stopped', () => session.interrupt(stoppable))}
        >
          stop
        </button>
      )}
    </>
  )
}

/** Current activity of a participant with open runs, and its duration. */
function Doing({ id }: { id: string }): VNode {
  const { session, can } = useSpace()
  const { model } = session
  const now = useNow(true)
  const call = model.members.getCall(id)
  const asked = model.pending(now).find(({ source }) => source.from === id)
  const since = (ts: string): string => ageText(model.gatewayTime(now) - Date.parse(ts))
  const run = model.runs().findLast(({ owner }) => owner === id)
  const what = asked
    ? `waits for ${isDecidable(asked, session, can) ? 'you' : 'a decision'}`
    : call
      ? `${nameText(getToolName(call.payload))} ${splitTarget(call)[1]} · ${since(call.ts)}`
      : `thinks · ${since(run?.startedAt ?? '')}`
  return (
    <span class="doing dim" title={what}>
      {what}
    </span>
  )
}

/** Context usage, in percent, from which an agent is about to forget. */
const nearlyFull = 80

/** Context usage that an agent has reported, in percent. */
function getContextUsage(status: ReportedStatus | undefined): number | undefined {
  const { tokens, maxTokens } = status ?? {}
  if (typeof tokens !== 'number' || typeof maxTokens !== 'number' || maxTokens <= 0) return undefined
  return Math.min(Math.round((100 * tokens) / maxTokens), 100)
}
