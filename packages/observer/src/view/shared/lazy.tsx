import { type ComponentType, createElement } from 'preact'
import { useEffect, useReducer } from 'preact/hooks'

type Load = () => Promise<unknown>
const loads = new Set<Load>()

const retryMs = 2000

/** A component whose code is no part of what the page begins with. Nothing is drawn until it is there. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  let loading: Promise<ComponentType<Props>> | undefined
  const loadOnce = (): Promise<ComponentType<Props>> => {
    loading ??= load().then(
      (component) => {
        loaded = component
        return component
      },
      (error: unknown) => {
        loading = undefined
        throw error
      },
    )
    return loading
  }
  loads.add(loadOnce)
  return (props) => {
    const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
    useEffect(() => {
      let again: ReturnType<typeof setTimeout> | undefined
      const tryToLoad = (): void =>
        void loadOnce().then(
          () => redraw(),
          // The gateway is away, as the page says.
          () => {
            again = setTimeout(tryToLoad, retryMs)
          },
        )
      if (loaded === undefined) tryToLoad()
      return () => clearTimeout(again)
    }, [])
    return loaded === undefined ? null : createElement(loaded, props)
  }
}

/** Loads all of them, so that nobody waits for one: what is opened while the gateway is away shows, too. */
export async function loadAll(): Promise<void> {
  for (const load of loads) await load()
}
