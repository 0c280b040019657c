import { type Route, readRoute, writeRoute } from '../model/index.js'

/** Parts of the address that are other ones now; `undefined` = there is none any more. */
export type Amendment = { readonly [Name in keyof Route]?: Route[Name] | undefined }

/** Changes these parts of the address, and leaves the others and the history of the browser as they are. */
export function amendAddress(parts: Amendment): void {
  const given = Object.entries({ ...readRoute(location.hash), ...parts }).filter(
    ([, value]) => value !== undefined,
  )
  const hash = writeRoute(Object.fromEntries(given))
  if (hash !== location.hash) history.replaceState(null, '', hash)
}
