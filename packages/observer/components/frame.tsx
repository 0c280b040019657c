import type { ParticipantDetails } from '@meup/protocol'
import type { ComponentChildren, VNode } from 'preact'
import { useReducer, useRef, useState } from 'preact/hooks'
import { PageSession } from '../src/connect/session.js'
import { type Composer, type Panel, type SpaceActions, SpaceProvider } from '../src/view/shared/use-space.js'
import { type Script, welcome } from '../test/support.js'

const people = ['ana', 'planner', 'security', 'tools', 'eve']
const agents = ['planner', 'security']

/** A session that shows a log without a gateway; its requests are never answered. */
function createSession(script: Script, space: string, onChange: () => void): PageSession {
  const session = new PageSession({ url: location.origin, space, token: '' }, onChange)
  const named = welcome(people, script.envelopes.length)
  const participants = named.participants.map(
    (each): ParticipantDetails => ({
      ...each,
      kind: each.id === 'ana' ? 'human' : 'agent',
      capabilities: agents.includes(each.id) ? ['chat'] : [],
    }),
  )
  const given = { ...named, participants }
  const silent = new Proxy(
    { proposals: { get: () => undefined } },
    { get: (known, name) => Reflect.get(known, name) ?? (() => new Promise(() => {})) },
  )
  Object.defineProperties(session, {
    client: { get: () => silent },
    welcome: { get: () => given },
    can: { value: () => true },
  })
  session.stage = { at: 'live' }
  const last = script.envelopes.at(-1)?.ts ?? new Date().toISOString()
  session.present.onWelcome(given, Date.now(), Date.parse(last) + 1000)
  session.present.append(script.envelopes, Date.now())
  return session
}

interface FrameProps {
  readonly name: string
  readonly script: Script
  /** Namespace of stored drafts and settings; default: `demo`, shared with other frames. */
  readonly space?: string
  readonly isTall?: boolean
  readonly panel?: Panel
  readonly children: ComponentChildren
}

/** Shows one state of a component, with a session and a log of its own. */
export function StateFrame({
  name,
  script,
  space = 'demo',
  isTall = false,
  panel,
  children,
}: FrameProps): VNode {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const [session] = useState(() => createSession(script, space, () => redraw()))
  const composer = useRef<Composer | undefined>(undefined)
  const nothing = (): void => {}
  const actions: SpaceActions = {
    ...{ session, isLive: true, can: () => true, composer, panel, unread: undefined },
    ...{ select: nothing, inspect: nothing, reveal: nothing, markRead: nothing, showPanel: nothing },
    viewFilter: { narrow: nothing, widen: nothing, mute: nothing, cut: nothing },
    cycle(context) {
      session.model.cycle(context)
      redraw()
    },
    choose(context, level) {
      session.model.choose(context, level)
      redraw()
    },
    act: (_, work) => void work().catch(reportError),
  }
  return (
    <section class="specimen" id={name.replaceAll(' ', '-')}>
      <h2>{name}</h2>
      <div class={`page ${isTall ? 'tall' : ''}`}>
        <SpaceProvider value={actions}>{children}</SpaceProvider>
      </div>
    </section>
  )
}
