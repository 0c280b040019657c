import type { ComponentType, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { readRoute } from '../model/index.js'
import { Stream } from './conversation/stream.js'
import { updateAddress } from './shared/hooks.js'
import { lazy } from './shared/lazy.js'
import type { ViewProps } from './shared/virtual-rows.js'

interface View {
  readonly mark: string
  readonly title: string
  readonly component: ComponentType<ViewProps>
}

const Lanes = lazy(() => import('./conversation/lanes.js').then(({ Lanes }) => Lanes))
const Trace = lazy(() => import('./trace/trace.js').then(({ Trace }) => Trace))

/** The views of a space, in the order of their tabs and keys. */
export const views = {
  stream: { mark: '≡', title: 'Everything in its order', component: Stream },
  lanes: { mark: '▥', title: 'One lane for each agent', component: Lanes },
  trace: { mark: '▤', title: 'Questions and their runs over time', component: Trace },
} satisfies Readonly<Record<string, View>>
export type ViewName = keyof typeof views
export const viewNames = Object.keys(views) as readonly ViewName[]

/** Name of the view in the URL, and a function to change it. */
export function useView(): readonly [ViewName, (view: ViewName) => void] {
  const [view, setView] = useState(() => viewNamed(readRoute(location.hash).view))
  useEffect(() => {
    const turned = (): void => setView(viewNamed(readRoute(location.hash).view))
    addEventListener('hashchange', turned)
    return () => removeEventListener('hashchange', turned)
  }, [])
  const turn = (next: ViewName): void => {
    updateAddress({ view: next === 'stream' ? undefined : next })
    setView(next)
  }
  return [view, turn]
}

/** Element ids of the tab panel, and of each tab. */
export const panelId = 'view'
export const tabId = (view: ViewName): string => `view-${view}`

/** Tabs of the views; arrow keys move between them. */
export const ViewTabs = ({ view, turn }: { view: ViewName; turn: (view: ViewName) => void }): VNode => (
  <div class="view-tabs" role="tablist" aria-label="Views">
    {viewNames.map((each, index) => (
      <button
        key={each}
        type="button"
        role="tab"
        id={tabId(each)}
        aria-selected={each === view}
        aria-controls={panelId}
        tabIndex={each === view ? 0 : -1}
        title={`${views[each].title} (${index + 1})`}
        onClick={() => turn(each)}
        onKeyDown={(event) => {
          const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? viewNames.length - 1 : 0
          const next = viewNames[(index + by) % viewNames.length]
          if (by === 0 || next === undefined) return
          event.preventDefault()
          event.stopPropagation()
          turn(next)
          document.getElementById(tabId(next))?.focus()
        }}
      >
        <span aria-hidden="true">{views[each].mark}</span> {each}
      </button>
    ))}
  </div>
)

/** The view with this name, or the stream if there is none. */
const viewNamed = (name: string | undefined): ViewName => viewNames.find((each) => each === name) ?? 'stream'
