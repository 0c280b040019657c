import type { VNode } from 'preact'
import { useEffect, useReducer, useState } from 'preact/hooks'
import { forgetToken, keepToken, keptToken, latestSpace, type Place } from '../connect/place.js'
import { Session } from '../connect/session.js'
import { readRoute, writeRoute } from '../model/index.js'
import { useKept } from './hooks.js'
import { SignIn } from './sign-in.js'
import { SpacePage } from './space-page.js'

/** The gateway that has served the page. */
const url = location.origin

/** The page: asks who somebody is, then shows the space. */
export function App(): VNode {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const [session, setSession] = useState<Session | undefined>()
  const [route, setRoute] = useState(() => readRoute(location.hash))
  const [theme, setTheme] = useKept('meup-theme', 'auto')

  const show = (next: Session | undefined): void => {
    session?.close()
    setSession(next)
    void next?.open()
  }
  const enter = (place: Place): void => show(new Session(place, () => redraw()))
  const leave = (): void => {
    if (session !== undefined) forgetToken(session.place.space)
    show(undefined)
  }

  useEffect(() => {
    const turned = (): void => setRoute(readRoute(location.hash))
    addEventListener('hashchange', turned)
    return () => removeEventListener('hashchange', turned)
  }, [])
  useEffect(() => {
    const { space } = route
    if (space === undefined || session?.place.space === space) return
    const token = keptToken(space)
    if (token !== undefined) enter({ url, space, token })
    else if (session !== undefined) show(undefined)
  }, [route.space])
  useEffect(() => {
    document.documentElement.dataset.theme = theme
  }, [theme])
  const { stage } = session ?? {}
  useEffect(() => {
    if (session === undefined || stage === undefined) return
    if (stage.at === 'live') keepToken(session.place)
    if (stage.at === 'ended' && stage.isRefused) forgetToken(session.place.space)
  }, [session, stage])

  const isShown = stage !== undefined && (stage.at !== 'ended' || (session?.model.rows.length ?? 0) > 0)
  if (session === undefined || !isShown) {
    return (
      <SignIn
        key={route.space}
        space={route.space ?? latestSpace()}
        problem={stage?.at === 'ended' ? stage.reason : undefined}
        enter={(given) => {
          const { space } = given
          history.replaceState(null, '', writeRoute({ ...route, space }))
          setRoute((before) => ({ ...before, space }))
          enter({ url, ...given })
        }}
      />
    )
  }
  return (
    <SpacePage
      key={session.place.space}
      session={session}
      theme={theme}
      setTheme={setTheme}
      leave={leave}
      linked={route.seq}
      redraw={() => redraw()}
    />
  )
}
