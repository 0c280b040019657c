import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { readOne } from '../connect/history.js'
import { whenText } from '../model/index.js'
import { lazy } from './shared/lazy.js'
import { type Panel, useSpace } from './shared/use-space.js'

const Inspector = lazy(() => import('./audit/inspector.js').then(({ Inspector }) => Inspector))
const Inbox = lazy(() => import('./decide/inbox.js').then(({ Inbox }) => Inbox))
const FindPanel = lazy(() => import('./find/find-panel.js').then(({ FindPanel }) => FindPanel))
const WhyPanel = lazy(() => import('./why/why-panel.js').then(({ WhyPanel }) => WhyPanel))
const PersonPanel = lazy(() => import('./participants/person.js').then(({ PersonPanel }) => PersonPanel))

/** The side panel next to the view. */
export function Beside({ panel, close }: { panel: Panel; close: () => void }): VNode | null {
  const { model } = useSpace().session
  switch (panel.at) {
    case 'envelope': {
      const envelope = panel.envelope ?? model.log.get(panel.id)
      return envelope === undefined ? null : <Inspector envelope={envelope} close={close} />
    }
    case 'why':
      return <WhyPanel key={panel.id} id={panel.id} close={close} />
    case 'person':
      return <PersonPanel key={panel.id} id={panel.id} capability={panel.capability} close={close} />
    case 'inbox':
      return <Inbox key={panel.id} first={panel.id} close={close} />
    case 'find':
      return <FindPanel close={close} />
  }
}

/** A notice that a distant envelope is being loaded, with its date. */
export function LoadingBack({ seq }: { seq: number }): VNode {
  const { session } = useSpace()
  const [ts, setTs] = useState('')
  useEffect(() => {
    setTs('')
    readOne(session.http, seq).then(
      (found) => setTs(found.ts),
      (error: unknown) => console.info('the date is not known:', error),
    )
  }, [session, seq])
  return (
    <p class="loading-back" role="status">
      Loading back to #{seq}
      {ts === '' ? '…' : ` · ${whenText(ts)}…`}
    </p>
  )
}
