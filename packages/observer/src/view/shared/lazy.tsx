import { type ComponentType, createElement } from 'preact'
import { useEffect, useReducer } from 'preact/hooks'

type Load = () => Promise<unknown>
const loads = new Set<Load>()

const retryMs = 2000

/** A component whose code is loaded on demand. Nothing is drawn until then. */
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
    const isDrawn = loaded !== undefined
    useEffect(() => {
      let again: ReturnType<typeof setTimeout> | undefined
      const tryToLoad = (): void =>
        void loadOnce().then(
          () => redraw(),
          // The gateway is unreachable, which the page shows.
          () => {
            again = setTimeout(tryToLoad, retryMs)
          },
        )
      // The code may have come after this was drawn without it.
      if (!isDrawn) tryToLoad()
      return () => clearTimeout(again)
    }, [])
    return loaded === undefined ? null : createElement(loaded, props)
  }
}

/** Loads all lazy components in advance, so that they also open while the gateway is unreachable. */
export async function loadAll(): Promise<void> {
  for (const load of loads) await load()
}
