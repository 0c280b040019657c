import type { HttpTarget } from '@meup/agent-sdk/http'
import { render, type VNode } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import { PageSession } from './connect/session.js'
import { loadLastSpace, loadToken, removeTabState, removeToken, saveToken } from './connect/storage.js'
import { readRoute, setHourCycle, writeRoute } from './model/index.js'
import { lazy } from './view/shared/lazy.js'
import { useSetting } from './view/shared/settings.js'
import { SpacePage } from './view/space-page.js'

const Entrance = lazy(() => import('./view/sign-in.js').then(({ Entrance }) => Entrance))

/** Address of the gateway that served the page. */
const url = location.origin

const codePattern = /^#\/open\/([\w-]{1,128})$/

/** Reads the sign-in code from the URL, and removes it from the URL and the browser history. */
function consumeCode(): string | undefined {
  if (!location.hash.startsWith('#/open/')) return undefined
  const [, code] = codePattern.exec(location.hash) ?? []
  history.replaceState(null, '', location.pathname)
  return code
}

/** The code from the URL; read before rendering, because components read the URL and replace it. */
const firstCode = consumeCode()

/** The root component: sign-in, or the space. */
function App(): VNode {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const [session, setSession] = useState<PageSession | undefined>()
  const [route, setRoute] = useState(() => readRoute(location.hash))
  const [code, setCode] = useState(firstCode)
  /** The space that was open when the reader followed a sign-in link. */
  const [before, setBefore] = useState<HttpTarget | undefined>()
  const [theme, density, clock] = [useSetting('theme'), useSetting('density'), useSetting('clock')]
  /** Whether to store the token in the browser, not only in the tab. */
  const keeps = useRef(false)
  const saved = useRef<PageSession | undefined>(undefined)

  const show = (next: PageSession | undefined): void => {
    session?.close()
    setSession(next)
    next?.open().catch(reportError)
  }
  const enter = (place: HttpTarget, isKept = false): void => {
    keeps.current = isKept
    show(new PageSession(place, () => redraw()))
  }
  const leave = (): void => {
    if (session !== undefined) {
      removeToken(session.place)
      // If the session has ended, its draft is kept: a reader whose token was revoked may sign in again.
      if (session.stage.at !== 'ended') removeTabState(session.place.space)
    }
    show(undefined)
  }

  useEffect(() => {
    const turned = (): void => {
      const next = consumeCode()
      if (next !== undefined) {
        setBefore(session?.place)
        show(undefined)
        setCode(next)
      }
      setRoute(readRoute(location.hash))
    }
    addEventListener('hashchange', turned)
    return () => removeEventListener('hashchange', turned)
  })
  useEffect(() => {
    const { space } = route
    if (space === undefined || session?.place.space === space) return
    const token = loadToken(space)
    if (token !== undefined) enter({ url, space, token })
    else if (session !== undefined) show(undefined)
  }, [route.space])
  useEffect(() => {
    Object.assign(document.documentElement.dataset, { theme, density })
  }, [theme, density])
  useEffect(() => {
    if (!setHourCycle(clock)) return
    session?.model.redrawAll()
    redraw()
  }, [session, clock])
  const { stage } = session ?? {}
  // A layout effect, because an effect still pending at a sign-out would store the token again.
  useLayoutEffect(() => {
    if (session === undefined || stage === undefined) return
    // Saved once per session: saving again would undo a sign-out in another tab.
    if (stage.at === 'live' && saved.current !== session) {
      saved.current = session
      saveToken(session.place, keeps.current)
    }
    if (stage.at === 'ended' && stage.isRefused) removeToken(session.place)
  }, [session, stage])

  const isTurnedAway = stage?.at === 'ended' && stage.isRefused && session?.present.log.last === 0
  if (session === undefined || isTurnedAway) {
    return (
      <Entrance
        key={`${route.space} ${code}`}
        url={url}
        code={code}
        space={route.space}
        problem={stage?.at === 'ended' ? stage.reason : undefined}
        enter={(place, isKept) => {
          const kept = route.space === place.space ? readRoute(location.hash) : {}
          history.replaceState(null, '', writeRoute({ ...kept, space: place.space }))
          setCode(undefined)
          setRoute(readRoute(location.hash))
          enter(place, isKept)
        }}
        stay={() => {
          setCode(undefined)
          const space = loadLastSpace()
          const token = loadToken(space)
          const place = before ?? (token !== undefined ? { url, space, token } : undefined)
          if (place !== undefined) enter(place)
        }}
      />
    )
  }
  return (
    <SpacePage
      key={session.place.space}
      session={session}
      leave={leave}
      linked={route.seq}
      moment={route.moment}
      redraw={() => redraw()}
    />
  )
}

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no root')
render(<App />, root)
