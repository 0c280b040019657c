import type { VNode } from 'preact'
import { clockText, nameText, type Person, toggled } from '../../model/index.js'
import { Checkbox, CloseButton, Name } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { ParticipantControl } from './control.js'
import { GrantedList, GrantForm } from './granted-capabilities.js'
import { stateMarks, useStateText } from './people.js'
import { ToolList } from './tools.js'
import { useGranted } from './use-granted.js'
import '../../style/person.css'

/** The side panel about a participant: activity, view settings, and capabilities. */
export function PersonPanel({
  id,
  capability,
  close,
}: {
  id: string
  capability: string | undefined
  close: () => void
}): VNode {
  const { session } = useSpace()
  const { model } = session
  const person = model.people.find((each) => each.id === id)
  return (
    <aside class="inspector person" aria-label={`About ${id}`}>
      <header>
        <h2>
          <Name id={id} />
        </h2>
        <CloseButton close={close} />
      </header>
      {person === undefined ? (
        <p class="dim">The space does not know {id} any more.</p>
      ) : (
        <State person={person} />
      )}
      <ParticipantControl id={id} />
      <Seen id={id} />
      <ToolList id={id} />
      <Rights id={id} capability={capability} />
    </aside>
  )
}

function State({ person }: { person: Person }): VNode {
  const { id, since, load } = person
  const { session, inspect } = useSpace()
  const state = useStateText(person)
  const { model } = session
  const runs = model.runs().flatMap(({ context, owner }) => (owner === id ? [context] : []))
  const status = Object.entries(model.members.getStatus(id) ?? {}).filter(
    ([, value]) => typeof value === 'number',
  )
  return (
    <dl>
      <dt>state</dt>
      <dd>
        {stateMarks[state.name].mark} {state.text}
        {since !== null && (state.name === 'here' || state.name === 'away') && (
          <time dateTime={since}> since {clockText(since)}</time>
        )}
      </dd>
      <dt>load</dt>
      <dd>
        {load === 0 && <span class="dim">idle</span>}
        {runs.slice(0, maxRuns).map((context) => (
          <button type="button" class="link" key={context} onClick={() => inspect(context)}>
            ◐ #{model.log.get(context)?.seq ?? context}
          </button>
        ))}
        {runs.length > maxRuns && <span class="dim">and {runs.length - maxRuns} more</span>}
      </dd>
      {status.map(([name, value]) => (
        <StatusItem key={name} name={name} value={Number(value)} />
      ))}
      <dt>thoughts</dt>
      <dd>{model.members.countThoughts(id).toLocaleString('en')}</dd>
    </dl>
  )
}

const maxRuns = 20

const StatusItem = ({ name, value }: { name: string; value: number }): VNode => (
  <>
    <dt class="said">{nameText(name)}</dt>
    <dd>{value.toLocaleString('en')}</dd>
  </>
)

/** View settings about the participant, which affect only this reader. */
function Seen({ id }: { id: string }): VNode {
  const { session, viewFilter, isLive } = useSpace()
  const { filter, muted } = session.model.viewFilter
  const { cut } = session.subscription
  return (
    <fieldset class="seen">
      <legend>For you alone</legend>
      <Checkbox
        checked={filter.from.includes(id)}
        set={() => viewFilter.narrow({ from: toggled(filter.from, id) })}
      >
        Show only {id}
      </Checkbox>
      <Checkbox checked={muted.has(id)} set={() => viewFilter.mute(id, !muted.has(id))}>
        Hide its thoughts
      </Checkbox>
      <Checkbox
        disabled={!isLive || id === session.welcome?.you.id}
        checked={cut.from.includes(id)}
        set={() => viewFilter.cut({ ...cut, from: toggled(cut.from, id) })}
      >
        Mute it at the gateway: nothing but messages and tools is sent
      </Checkbox>
    </fieldset>
  )
}

/** Capabilities with their origins, and a form to grant more. */
function Rights({ id, capability = '' }: { id: string; capability: string | undefined }): VNode {
  const granted = useGranted(id)
  return (
    <section class="rights" aria-label={`What ${id} may do`}>
      <h3>May do</h3>
      {granted === undefined ? <p class="dim">nothing</p> : <GrantedList granted={granted} />}
      <GrantForm key={`${id} ${capability}`} recipient={id} initial={capability} />
    </section>
  )
}
