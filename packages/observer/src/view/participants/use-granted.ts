import { type GrantedCapabilities, grantKinds } from '@meup/folds'
import { useEffect, useMemo, useReducer } from 'preact/hooks'
import { loadHistory } from '../../connect/history.js'
import { GrantIndex } from '../../model/index.js'
import { useSpace } from '../shared/use-space.js'

/** Grants and configurations of the space. If `isMissing` returns `true`, also reads those older than the loaded log. */
export function useGrants(isMissing: (grants: GrantIndex) => boolean, failure: string): GrantIndex {
  const { session, act } = useSpace()
  const { model, http } = session
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const grants = useMemo(() => new GrantIndex(model.log), [model])
  const needsEarlier = isMissing(grants)
  useEffect(() => {
    if (!needsEarlier) return
    act(failure, async () => {
      const { envelopes } = await loadHistory(http, { kind: grantKinds })
      grants.setEarlier(envelopes)
      redraw()
    })
  }, [grants, needsEarlier])
  return grants
}

/** A participant's current capabilities with their origins, including grants older than the loaded log. */
export function useGranted(id: string): GrantedCapabilities | undefined {
  const { model } = useSpace().session
  const grants = useGrants(() => true, 'Earlier grants could not be read')
  const now = model.gatewayTime(Date.now())
  return grants.getCapabilities(id, model.members.infos(now), now)
}
