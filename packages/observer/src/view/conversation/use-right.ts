import { grantKinds } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { readHistory } from '../../connect/history.js'
import { isReady, makeReady } from '../../connect/regular-expressions.js'
import { LoadedRights } from '../../model/index.js'
import { useCapabilityHelp } from '../participants/use-capability-help.js'
import { useSpace } from '../shared/use-space.js'

/**
 * The words for the right that let a request pass, also if it was configured or granted before the loaded log. `undefined` = its envelope
 * names none, or what explains it is still loading.
 */
export function useRight(request: Envelope): string | undefined {
  const { session, act } = useSpace()
  const { model, http } = session
  const [earlier, setEarlier] = useState<readonly Envelope[]>([])
  const [, setReady] = useState(false)
  const help = useCapabilityHelp()
  const rights = useMemo(() => new LoadedRights(model.log, earlier), [model, earlier])
  const hasRight = request.allowedBy !== undefined
  const isMissing = hasRight && !rights.isLoaded(request)
  const { participants, guest } = (hasRight && rights.configurationAt(request.seq ?? 0)) || {}
  const configured = [participants?.[request.from], guest]
  const isCompilable = isReady(configured)
  useEffect(() => {
    if (isMissing)
      act('Which right let the call pass could not be read', async () => {
        setEarlier((await readHistory(http, { kind: grantKinds })).envelopes)
      })
  }, [isMissing])
  useEffect(() => {
    if (!isCompilable)
      act('Which right let the call pass cannot be explained', async () => {
        await makeReady(configured)
        setReady(true)
      })
  }, [isCompilable])
  return hasRight && isCompilable ? help?.explainRight(request, rights) : undefined
}
