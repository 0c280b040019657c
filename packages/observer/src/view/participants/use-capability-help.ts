import { useEffect, useState } from 'preact/hooks'

type CapabilityHelp = typeof import('../../model/capability-help.js')

let help: CapabilityHelp | undefined

/** Functions that explain and check capabilities; imported on first use. */
export function useCapabilityHelp(): CapabilityHelp | undefined {
  const [loaded, setLoaded] = useState(help)
  useEffect(() => {
    if (loaded !== undefined) return
    import('../../model/capability-help.js').then(
      ({ explainCapability, explainRight, findWarnings }) => {
        help = { explainCapability, explainRight, findWarnings }
        setLoaded(help)
      },
      (error: unknown) => console.info('capabilities are not explained:', error),
    )
  }, [loaded])
  return loaded
}
