import type { VNode } from 'preact'
import { useEffect, useMemo, useReducer } from 'preact/hooks'
import { readGrants } from '../../connect/http.js'
import { clockText, countText, nameText, type Person, Trust, toggled } from '../../model/index.js'
import { Name } from '../shared/parts.js'
import { useDesk } from '../shared/use-space.js'
import { GrantForm } from './grant-form.js'
import { Holdings } from './granted-capabilities.js'

/** Everything about one participant: what it is at, what this reader sees of it, and what it may do. */
export function PersonPanel({ id, close }: { id: string; close: () => void }): VNode {
  const { session } = useDesk()
  const { model } = session
  const person = model.people.find((each) => each.id === id)
  return (
    <aside class="inspector person" aria-label={`About ${id}`}>
      <header>
        <h2>
          <Name id={id} />
        </h2>
        <button type="button" aria-label="Close" title="Close (Escape)" onClick={close}>
          ✕
        </button>
      </header>
      {person === undefined ? (
        <p class="dim">The space does not know {id} any more.</p>
      ) : (
        <State person={person} />
      )}
      <Seen id={id} />
      <Rights id={id} />
    </aside>
  )
}

function State({ person: { id, isPresent, since, load } }: { person: Person }): VNode {
  const { session, look } = useDesk()
  const { model } = session
  const runs = [...model.runs].flatMap(([context, owner]) => (owner === id ? [context] : []))
  const status = Object.entries(model.members.statusOf(id) ?? {}).filter(
    ([, value]) => typeof value === 'number',
  )
  return (
    <dl>
      <dt>state</dt>
      <dd>
        {isPresent ? '● here' : '○ away'}
        {since !== null && <time dateTime={since}> since {clockText(since)}</time>}
      </dd>
      <dt>load</dt>
      <dd>
        {load === 0 && <span class="dim">nothing goes on</span>}
        {runs.slice(0, maxRuns).map((context) => (
          <button type="button" class="link" key={context} onClick={() => look(context)}>
            ◐ #{model.log.get(context)?.seq ?? context}
          </button>
        ))}
        {runs.length > maxRuns && <span class="dim">and {runs.length - maxRuns} more</span>}
      </dd>
      {status.map(([name, value]) => (
        <StatusItem key={name} name={name} value={Number(value)} />
      ))}
      <dt>thought</dt>
      <dd>{countText(model.members.thoughtsOf(id), 'thought')} seen here</dd>
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

/** What this reader sees of it; nobody else notices. */
function Seen({ id }: { id: string }): VNode {
  const { session, lens, isLive } = useDesk()
  const { filter, muted } = session.model.lens
  const { cut } = session.cutting
  return (
    <fieldset class="seen">
      <legend>For you alone</legend>
      <label class="check">
        <input
          type="checkbox"
          checked={filter.from.includes(id)}
          onChange={() => lens.narrow({ from: toggled(filter.from, id) })}
        />
        Show only {id}
      </label>
      <label class="check">
        <input type="checkbox" checked={muted.has(id)} onChange={() => lens.mute(id, !muted.has(id))} />
        Hide its thoughts
      </label>
      <label class="check">
        <input
          type="checkbox"
          disabled={!isLive || id === session.welcome?.you.id}
          checked={cut.from.includes(id)}
          onChange={() => lens.cut({ ...cut, from: toggled(cut.from, id) })}
        />
        Cut it at the gateway: nothing but messages and tools is sent
      </label>
    </fieldset>
  )
}

/** What it may do and by whom; with what gives it more. */
function Rights({ id }: { id: string }): VNode {
  const { session, act } = useDesk()
  const { model, place } = session
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const trust = useMemo(() => new Trust(model.log), [model])
  useEffect(() => {
    act('What was granted before could not be read', async () => {
      trust.learn(await readGrants(place))
      redraw()
    })
  }, [trust])
  const people = model.members.infos()
  const holdings = trust.holdingsOf(id, people, model.gatewayTime(Date.now()))
  return (
    <section class="rights" aria-label={`What ${id} may do`}>
      <h3>May do</h3>
      {holdings === undefined ? <p class="dim">nothing</p> : <Holdings holdings={holdings} />}
      <GrantForm key={id} recipient={id} />
    </section>
  )
}
