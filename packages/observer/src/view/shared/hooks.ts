import { useEffect, useState } from 'preact/hooks'
import { type Route, readRoute, type SpaceModel, writeRoute } from '../../model/index.js'

/** Milliseconds since 1970, told again every so many milliseconds while it is needed. */
export function useNow(isNeeded: boolean, everyMs = 1000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isNeeded) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [isNeeded, everyMs])
  return now
}

/** A value that is kept in this browser. */
export function useStored(name: string, otherwise: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => localStorage.getItem(name) ?? otherwise)
  const keep = (next: string): void => {
    localStorage.setItem(name, next)
    setValue(next)
  }
  return [value, keep]
}

/** Milliseconds of each frame in which rows are made anew. */
const frameBudgetMs = 12

/** Applies the reader's choices to a long log, a little per frame. */
export function useCatchingUp(model: SpaceModel, redraw: () => void): void {
  const { isBehind } = model
  useEffect(() => {
    if (!isBehind) return
    let frame = 0
    const work = (): void => {
      const until = performance.now() + frameBudgetMs
      if (model.catchUp(() => performance.now() > until)) redraw()
      else frame = requestAnimationFrame(work)
    }
    frame = requestAnimationFrame(work)
    return () => cancelAnimationFrame(frame)
  }, [model, isBehind])
}

/** Parts of the address that are other ones now; `undefined` = there is none any more. */
type AddressChange = { readonly [Name in keyof Route]?: Route[Name] | undefined }

/** Changes these parts of the address, and leaves the others and the history of the browser as they are. */
export function updateAddress(parts: AddressChange): void {
  const given = Object.entries({ ...readRoute(location.hash), ...parts }).filter(
    ([, value]) => value !== undefined,
  )
  const hash = writeRoute(Object.fromEntries(given))
  if (hash !== location.hash) history.replaceState(null, '', hash)
}
