/** State of the page in its URL fragment. Never contains a token, because URLs are logged and shared. */
export interface PageRoute {
  readonly space?: string
  /** Seq of the selected envelope (`e`). */
  readonly seq?: number
  /** Seq of the last shown envelope (`at`); absent in the present. */
  readonly moment?: number
  /** The only shown context (`ctx`). */
  readonly context?: string
  /** Name of the view; absent for the stream. */
  readonly view?: string
  /** The search query (`q`). */
  readonly query?: string
  /** The only shown participants. */
  readonly from?: readonly string[]
  /** The only shown categories of lines. */
  readonly sorts?: readonly string[]
}

/** Reads and writes one parameter of the fragment. */
interface Part<Value> {
  readonly name: string
  read(text: string): Value | undefined
  write(value: Value): string
}

const matching = (name: string, pattern: RegExp): Part<string> => ({
  name,
  read: (text) => (pattern.test(text) ? text : undefined),
  write: (value) => value,
})
const listParameter = (name: string, pattern: RegExp): Part<readonly string[]> => ({
  name,
  read: (text) => {
    const all = text.split(',').filter((each) => pattern.test(each))
    return all.length === 0 ? undefined : all
  },
  write: (values) => values.join(','),
})

const seqParameter = (name: string): Part<number> => ({
  name,
  read: (text) => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined),
  write: String,
})

const longestQuery = 200
const parts: { readonly [Name in Exclude<keyof PageRoute, 'space'>]-?: Part<NonNullable<PageRoute[Name]>> } =
  {
    seq: seqParameter('e'),
    moment: seqParameter('at'),
    context: matching('ctx', /^[\w-]+(\/[\w-]+)*$/),
    view: matching('view', /^[a-z]+$/),
    query: { name: 'q', read: (text) => text.slice(0, longestQuery) || undefined, write: (text) => text },
    from: listParameter('from', /^[A-Za-z0-9][\w.:-]{0,63}$/),
    sorts: listParameter('only', /^[a-z]+$/),
  }

/** Parses a URL fragment, such as `#/s/demo?e=120&q=release`. Ignores unknown parameters. */
export function readRoute(hash: string): PageRoute {
  const text = hash.replace(/^#/, '')
  const mark = text.includes('?') ? text.indexOf('?') : text.length
  const [, sign, space = ''] = text.slice(0, mark).split('/')
  if (sign !== 's' || !/^[a-z0-9][a-z0-9-]{0,62}$/.test(space)) return {}
  const query = new URLSearchParams(text.slice(mark + 1))
  const read = Object.entries(parts).flatMap(([name, part]) => {
    const value = part.read(query.get(part.name) ?? '')
    return value === undefined ? [] : [[name, value]]
  })
  return { space, ...Object.fromEntries(read) }
}

export function writeRoute({ space, ...given }: PageRoute): string {
  if (space === undefined) return '#/'
  const query = Object.entries(parts).flatMap(([key, part]) => {
    const value = given[key as keyof typeof given]
    return value === undefined ? [] : `${part.name}=${encode((part as Part<unknown>).write(value))}`
  })
  return `#/s/${space}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

/** Encodes a parameter, but keeps slashes and commas readable. */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll('%2F', '/').replaceAll('%2C', ',')
