import { type ComponentType, createElement } from 'preact'
import { useEffect, useReducer } from 'preact/hooks'

type Load = () => Promise<unknown>
const loads = new Set<Load>()

const retryMs = 2000

/** Wraps a component whose code is imported when it is first drawn; draws nothing until then. */
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
          // No message: the page already shows that the gateway is unreachable.
          () => {
            again = setTimeout(tryToLoad, retryMs)
          },
        )
      // The import may have finished between the first drawing and this effect.
      if (!isDrawn) tryToLoad()
      return () => clearTimeout(again)
    }, [])
    return loaded === undefined ? null : createElement(loaded, props)
  }
}

/** A hook for code that is loaded when it is first needed: `undefined` until then. */
export function lazyHook<Code>(
  load: () => Promise<Code>,
  failure: string,
): (isNeeded?: boolean) => Code | undefined {
  let loaded: Code | undefined
  return (isNeeded = true) => {
    const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
    const drawn = loaded
    useEffect(() => {
      if (!isNeeded || drawn !== undefined) return
      load().then(
        (code) => {
          loaded = code
          redraw()
        },
        (error: unknown) => console.info(failure, error),
      )
    }, [isNeeded])
    return drawn
  }
}

/** Imports all lazy components in advance, so that they work while the gateway is unreachable. */
export async function loadAll(): Promise<void> {
  for (const load of loads) await load()
}
