import { lazyHook } from '../shared/lazy.js'

/** Functions that explain and check capabilities; imported on first use. */
export const useCapabilityHelp = lazyHook(
  () =>
    import('../../model/capability-help.js').then(({ explainCapability, explainRight, findWarnings }) => ({
      ...{ explainCapability, explainRight, findWarnings },
    })),
  'capabilities are not explained:',
)
