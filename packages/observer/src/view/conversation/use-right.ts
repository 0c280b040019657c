import { isCompilable as areCompilable, type Envelope, makeCompilable } from '@meup/protocol'
import { useEffect, useState } from 'preact/hooks'
import { useCapabilityHelp } from '../participants/use-capability-help.js'
import { useGrants } from '../participants/use-granted.js'
import { useSpace } from '../shared/use-space.js'

/**
 * Describes the capability that allowed a request, even one granted before the loaded log. `undefined` if unknown or still
 * loading.
 */
export function useRight(request: Envelope): string | undefined {
  const { act } = useSpace()
  const [, setReady] = useState(false)
  const help = useCapabilityHelp()
  const hasRight = request.allowedBy !== undefined
  const grants = useGrants(
    (each) => hasRight && !each.isLoaded(request),
    'Which right let the call pass could not be read',
  )
  const { participants, guest } = (hasRight && grants.configurationAt(request.seq ?? 0)) || {}
  const configured = [participants?.[request.from], guest]
  const isCompilable = areCompilable(configured)
  useEffect(() => {
    if (!isCompilable)
      act('Which right let the call pass cannot be explained', async () => {
        await makeCompilable(configured)
        setReady(true)
      })
  }, [isCompilable])
  return hasRight && isCompilable ? help?.explainRight(request, grants) : undefined
}
