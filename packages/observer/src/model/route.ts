/** What the address of the page says. Never a token: addresses end up in logs, and are passed on. */
export interface Route {
  readonly space?: string
  /** The envelope to look at. */
  readonly seq?: number
}

/** Reads the part behind `#`, such as `#/s/demo?e=120`. What it does not know it leaves out. */
export function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?')
  const [, mark, space = ''] = path.split('/')
  if (mark !== 's' || !/^[a-z0-9][a-z0-9-]{0,62}$/.test(space)) return {}
  const seq = Number(new URLSearchParams(query).get('e') ?? Number.NaN)
  return { space, ...(Number.isSafeInteger(seq) && seq > 0 && { seq }) }
}

export const writeRoute = ({ space, seq }: Route): string =>
  space === undefined ? '#/' : `#/s/${space}${seq === undefined ? '' : `?e=${seq}`}`
